"""Live pictures by shaders, on a GPU or on Mesa in software (extra `shaders`): the same passes of
the same stage as `render.live`, rasterised."""
