"""A small detector of points: where the middle of a thing is, of which class, and how large.

A picture is first brought to a mean of 0 and a standard deviation of 1, as cameras and eyes adapt.
A few convolutions bring it down to a grid of cells of `STRIDE` pixels. Every cell tells, for
each class, how likely the middle of such a thing lies in it, and the logarithms of the box's size
and the place of its middle within the cell (Zhou, Wang and Krähenbühl 2019, Objects as Points). The
loss of the first is their penalty-reduced focal one, of the others the absolute error where there
is a thing. Trained by Adam (Kingma and Ba 2015) on pictures and their mirror images.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

STRIDE = 8
WIDTHS = (12, 24, 48, 48, 48)
"""Channels after each convolution; the first three halve the picture."""
SIZE_WEIGHT = 0.3
"""Of the errors of the box beside those of the class."""
RATE = 2e-3
BATCH = 8
NEIGHBOURS = 1
"""Cells around a peak that are no peaks of their own."""

Array = NDArray[np.float32]
Parameters = list[dict[str, jax.Array]]


class Box(NamedTuple):
    """A box in a picture, px."""

    kind: int
    left: float
    top: float
    right: float
    bottom: float
    score: float = 1.0


class Targets(NamedTuple):
    """What a picture's cells should tell."""

    heat: Array
    """(N, rows, columns, classes): 1 at the middles of things, less around them."""
    box: Array
    """(N, rows, columns, 4): where in the cell (columns, rows), and ln of width and height over
    the stride."""
    there: Array
    """(N, rows, columns): 1 at the middles."""


def targets(boxes: list[list[Box]], shape: tuple[int, int], classes: int) -> Targets:
    """Of pictures (rows, columns) with their boxes."""
    rows, columns = shape[0] // STRIDE, shape[1] // STRIDE
    heat = np.zeros((len(boxes), rows, columns, classes), np.float32)
    box = np.zeros((len(boxes), rows, columns, 4), np.float32)
    there = np.zeros((len(boxes), rows, columns), np.float32)
    j, i = np.meshgrid(np.arange(columns), np.arange(rows))
    for n, some in enumerate(boxes):
        for b in some:
            x, y = 0.5 * (b.left + b.right) / STRIDE, 0.5 * (b.top + b.bottom) / STRIDE
            column, row = min(int(x), columns - 1), min(int(y), rows - 1)
            wide, high = (b.right - b.left) / STRIDE, (b.bottom - b.top) / STRIDE
            spread = max(0.5, 0.15 * (wide + high) / 2.0)
            bump = np.exp(-((j - column) ** 2 + (i - row) ** 2) / (2.0 * spread**2))
            heat[n, ..., b.kind] = np.maximum(heat[n, ..., b.kind], bump)
            box[n, row, column] = (x - column, y - row, np.log(wide), np.log(high))
            there[n, row, column] = 1.0
    return Targets(heat, box, there)


def begin(seed: int, classes: int) -> Parameters:
    """Weights before training (He and others 2015); at first no cell expects anything."""
    random = np.random.default_rng(seed)
    sizes = [3, *WIDTHS, classes + 4]
    layers: Parameters = []
    for k, (fewer, more) in enumerate(itertools.pairwise(sizes)):
        last = k == len(WIDTHS)
        side = 1 if last else 3
        spread = np.sqrt(2.0 / (side * side * fewer)) * (0.1 if last else 1.0)
        weight = spread * random.standard_normal((side, side, fewer, more))
        bias = np.zeros(more)
        if last:
            bias[:classes] = -4.0
        layers.append({"w": jnp.asarray(weight, jnp.float32), "b": jnp.asarray(bias, jnp.float32)})
    return layers


def forward(layers: Parameters, pictures: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Logits of the classes and boxes of pictures (N, H, W, 3), 0 to 1."""
    mean = pictures.mean(axis=(1, 2, 3), keepdims=True)
    x = (pictures - mean) / (pictures.std(axis=(1, 2, 3), keepdims=True) + 0.01)
    for k, layer in enumerate(layers):
        stride = 2 if k < 3 else 1
        x = jax.lax.conv_general_dilated(
            x, layer["w"], (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = x + layer["b"]
        if k < len(layers) - 1:
            x = jax.nn.leaky_relu(x, 0.1)
    return x[..., :-4], x[..., -4:]


def _loss(layers: Parameters, pictures: jax.Array, wanted: Targets) -> jax.Array:
    logits, box = forward(layers, pictures)
    likely = jax.nn.sigmoid(logits)
    hit = wanted.heat > 0.999
    miss_loss = -((1.0 - likely) ** 2) * jax.nn.log_sigmoid(logits)
    false_loss = -((1.0 - wanted.heat) ** 4) * likely**2 * jax.nn.log_sigmoid(-logits)
    count = jnp.maximum(wanted.there.sum(), 1.0)
    off = jnp.abs(box - wanted.box).sum(-1) * wanted.there
    return (jnp.where(hit, miss_loss, false_loss).sum() + SIZE_WEIGHT * off.sum()) / count


def train(
    pictures: NDArray[np.uint8],
    boxes: list[list[Box]],
    classes: int,
    steps: int,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Parameters:
    """A detector of pictures (N, H, W, 3) and what they show."""
    wanted = targets(boxes, pictures.shape[1:3], classes)
    mirrored = targets([_mirrored(some, pictures.shape[2]) for some in boxes],
                       pictures.shape[1:3], classes)  # fmt: skip
    random = np.random.default_rng(seed)
    layers = begin(seed, classes)

    @jax.jit
    def step(layers: Any, moments: Any, k: Any, batch: Any, goal: Any) -> Any:
        slope = jax.grad(_loss)(layers, batch.astype(jnp.float32) / 255.0, goal)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slope)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], slope)
        rate = RATE * 0.5 * (1.0 + jnp.cos(jnp.pi * k / steps))
        first, second = 1.0 - 0.9 ** (k + 1.0), 1.0 - 0.999 ** (k + 1.0)
        layers = jax.tree.map(
            lambda p, m, v: p - rate * (m / first) / (jnp.sqrt(v / second) + 1e-8),
            layers,
            mean,
            square,
        )
        return layers, (mean, square)

    nothing = jax.tree.map(jnp.zeros_like, layers)
    moments = (nothing, nothing)
    for k in range(steps):
        chosen = random.choice(len(pictures), BATCH, replace=len(pictures) < BATCH)
        turn = random.random() < 0.5
        goal = Targets(*(part[chosen] for part in (mirrored if turn else wanted)))
        batch = pictures[chosen][:, :, ::-1] if turn else pictures[chosen]
        layers, moments = step(layers, moments, float(k), batch, goal)
        if progress is not None:
            progress((k + 1) / steps)
    return list(layers)


def _mirrored(boxes: list[Box], width: int) -> list[Box]:
    return [b._replace(left=width - b.right, right=width - b.left) for b in boxes]


def detect(layers: Parameters, pictures: NDArray[np.uint8], least: float) -> list[list[Box]]:
    """What a detector finds in pictures, with a score of at least so much."""
    found: list[list[Box]] = []
    look = jax.jit(forward)
    for first in range(0, len(pictures), BATCH):
        batch = pictures[first : first + BATCH]
        logits, boxes = look(layers, batch.astype(np.float32) / 255.0)
        scores = np.asarray(jax.nn.sigmoid(logits))
        found += [_peaks(s, b, least) for s, b in zip(scores, np.asarray(boxes), strict=True)]
    return found


def _peaks(scores: Array, boxes: Array, least: float) -> list[Box]:
    """Cells that no neighbour outdoes, the best class of each."""
    best, kind = scores.max(axis=-1), scores.argmax(axis=-1)
    rows, columns = best.shape
    found = []
    for row, column in np.argwhere(best >= least):
        around = best[
            max(row - NEIGHBOURS, 0) : min(row + NEIGHBOURS + 1, rows),
            max(column - NEIGHBOURS, 0) : min(column + NEIGHBOURS + 1, columns),
        ]
        if best[row, column] < around.max():
            continue
        dx, dy, wide, high = boxes[row, column]
        x, y = STRIDE * (column + dx), STRIDE * (row + dy)
        w, h = STRIDE * np.exp(np.clip([wide, high], -3.0, 4.0)) / 2.0
        score = float(best[row, column])
        found.append(Box(int(kind[row, column]), x - w, y - h, x + w, y + h, score))
    return found


def overlap(a: Box, b: Box) -> float:
    """Share of the area of both that they have in common."""
    wide = min(a.right, b.right) - max(a.left, b.left)
    high = min(a.bottom, b.bottom) - max(a.top, b.top)
    if wide <= 0.0 or high <= 0.0:
        return 0.0
    both = wide * high
    areas = [(c.right - c.left) * (c.bottom - c.top) for c in (a, b)]
    return float(both / (sum(areas) - both))


def confusion(
    found: list[list[Box]], true: list[list[Box]], classes: int, least_overlap: float
) -> NDArray[np.int64]:
    """(classes + 1, classes + 1) counts: rows what was predicted, columns what it was; the last of
    each is background. Boxes are paired from the best overlap down, whatever their classes."""
    counts = np.zeros((classes + 1, classes + 1), np.int64)
    for predicted, there in zip(found, true, strict=True):
        pairs = sorted(
            (
                (overlap(p, t), i, k)
                for i, p in enumerate(predicted)
                for k, t in enumerate(there)
                if overlap(p, t) >= least_overlap
            ),
            reverse=True,
        )
        used: set[int] = set()
        met: set[int] = set()
        for _, i, k in pairs:
            if i not in used and k not in met:
                used.add(i)
                met.add(k)
                counts[predicted[i].kind, there[k].kind] += 1
        for i, p in enumerate(predicted):
            counts[p.kind, classes] += i not in used
        for k, t in enumerate(there):
            counts[classes, t.kind] += k not in met
    return counts
