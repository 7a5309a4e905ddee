"""A small detector trained on the spot, clear and still against foggy and wavy."""
