"""What bodies and bottoms are made of, by name."""

from typing import Literal, get_args

MaterialName = Literal[
    "mud", "sand", "gravel", "rock", "concrete", "steel", "aluminium", "wood", "plastic", "rubber"
]
MATERIAL_NAMES: tuple[str, ...] = get_args(MaterialName)
