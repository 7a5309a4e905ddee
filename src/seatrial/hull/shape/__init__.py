"""The shape of a hull: closed triangle meshes, made, read and mended, and what they displace."""
