"""Hydrostatics of a closed mesh cut exactly at a level water surface.

The part of every triangle under the surface is a triangle or a quadrangle; its integrals are exact,
so that the only error is that of the mesh itself. Volume and first moments follow from the
divergence theorem over the cut triangles: with the origin on the surface the missing lid (the
waterplane) adds nothing to ∫ z n_z dA. The waterplane's area and moments come from the line along
which the surface cuts the hull (Green's theorem).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seatrial.geometry.mesh import Mesh

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Hydrostatics:
    """What a hull displaces in one position; all points in the frame in which it was cut."""

    volume: float
    """Displaced, m³."""
    buoyancy_centre: Array
    """(3,) of the displaced volume."""
    wetted_area: float
    """Of the surface under water, m²."""
    waterplane_area: float
    flotation: Array
    """(2,) x and y of the waterplane's centroid."""
    waterplane_moments: Array
    """(2, 2) ∫ r rᵀ dA about its centroid: xx is of pitch, yy of roll, m⁴."""

    @property
    def metacentric_radii(self) -> tuple[float, float]:
        """BM in roll and in pitch, m: the second moments over the volume."""
        return (
            float(self.waterplane_moments[1, 1] / self.volume),
            float(self.waterplane_moments[0, 0] / self.volume),
        )


def cut(mesh: Mesh, level: float = 0.0) -> Array:
    """Triangles (K, 3, 3) of what lies below the plane z = `level` (z down), windings kept."""
    corners = mesh.vertices[mesh.faces]
    depth = corners[:, :, 2] - level
    wet = depth > 0.0
    count = wet.sum(axis=1)
    parts = [corners[count == 3]]
    for alone in (1, 2):  # one corner wet, or one corner dry
        some = count == alone
        odd = np.argmax(wet[some] if alone == 1 else ~wet[some], axis=1)
        order = (odd[:, None] + np.arange(3)) % 3
        a, b, c = np.moveaxis(np.take_along_axis(corners[some], order[:, :, None], axis=1), 1, 0)
        da, db, dc = np.moveaxis(np.take_along_axis(depth[some], order, axis=1), 1, 0)
        ab = a + (da / (da - db))[:, None] * (b - a)
        ac = a + (da / (da - dc))[:, None] * (c - a)
        if alone == 1:
            parts.append(np.stack([a, ab, ac], axis=1))
        else:
            parts += [np.stack([ab, b, c], axis=1), np.stack([ab, c, ac], axis=1)]
    return np.concatenate(parts)


def waterline(mesh: Mesh, level: float = 0.0) -> Array:
    """Segments (K, 2, 2) of the outline at the plane, counter-clockwise around the hull's inside
    in the x, y plane."""
    corners = mesh.vertices[mesh.faces]
    depth = corners[:, :, 2] - level
    wet = depth > 0.0
    segments = []
    for alone in (1, 2):
        some = wet.sum(axis=1) == alone
        odd = np.argmax(wet[some] if alone == 1 else ~wet[some], axis=1)
        order = (odd[:, None] + np.arange(3)) % 3
        a, b, c = np.moveaxis(np.take_along_axis(corners[some], order[:, :, None], axis=1), 1, 0)
        da, db, dc = np.moveaxis(np.take_along_axis(depth[some], order, axis=1), 1, 0)
        ab = (a + (da / (da - db))[:, None] * (b - a))[:, :2]
        ac = (a + (da / (da - dc))[:, None] * (c - a))[:, :2]
        segments.append(np.stack([ab, ac] if alone == 1 else [ac, ab], axis=1))
    return np.concatenate(segments)


def hydrostatics(mesh: Mesh, level: float = 0.0) -> Hydrostatics:
    """Everything at once for the water surface z = `level`."""
    wet = cut(mesh, level) - np.array([0.0, 0.0, level])
    a, b, c = wet[:, 0], wet[:, 1], wet[:, 2]
    normal = 0.5 * np.cross(b - a, c - a)
    depth = wet[:, :, 2]
    # ∫ z dA n_z and ∫ z (x, y, z/2) dA n_z; products of linear functions over a triangle are
    # A/12 (Σ f_i g_i + Σ f Σ g)
    volume = float(np.sum(normal[:, 2] * depth.sum(axis=1)) / 3.0)
    total = wet.sum(axis=1)
    product = np.einsum("ki,kij->kj", depth, wet) + depth.sum(axis=1)[:, None] * total
    first = np.sum(normal[:, 2:] * product, axis=0) / 12.0 * np.array([1.0, 1.0, 0.5])
    area, flotation, moments = _plane(waterline(mesh, level))
    centre = first / volume if volume > 0.0 else np.zeros(3)
    return Hydrostatics(
        volume=volume,
        buoyancy_centre=centre + np.array([0.0, 0.0, level]),
        wetted_area=float(np.linalg.norm(normal, axis=1).sum()),
        waterplane_area=area,
        flotation=flotation,
        waterplane_moments=moments,
    )


def _plane(segments: Array) -> tuple[float, Array, Array]:
    """Area, centroid and second moments about it of what the segments go round."""
    if len(segments) == 0:
        return 0.0, np.zeros(2), np.zeros((2, 2))
    middle = segments.reshape(-1, 2).mean(axis=0)
    p, q = segments[:, 0] - middle, segments[:, 1] - middle
    twice = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    area = 0.5 * float(twice.sum())
    if area <= 0.0:
        return 0.0, middle, np.zeros((2, 2))
    centroid = np.sum(twice[:, None] * (p + q), axis=0) / (6.0 * area)
    outer = np.einsum("ki,kj->kij", p, p) + np.einsum("ki,kj->kij", q, q)
    mixed = np.einsum("ki,kj->kij", p + q, p + q)
    second = np.sum(twice[:, None, None] * (outer + mixed), axis=0) / 24.0
    return area, centroid + middle, second - area * np.outer(centroid, centroid)


def section_areas(mesh: Mesh, stations: Array, level: float = 0.0) -> Array:
    """(S,) immersed area of the cross sections at x = `stations`, m²."""
    upright = mesh.vertices[:, [1, 2, 0]]  # the section's plane takes the place of the level
    areas = []
    for x in stations:
        outline = waterline(Mesh(upright, mesh.faces), float(x))
        areas.append(_clipped_area(outline, level))
    return np.array(areas)


def section(mesh: Mesh, x: float) -> Array:
    """Segments (K, 2, 2) in y and z of the cross section at x, above and below the water."""
    return waterline(Mesh(mesh.vertices[:, [1, 2, 0]], mesh.faces), x)


def _clipped_area(segments: Array, level: float) -> float:
    """Area inside a closed outline of y, z that lies below z = `level`: ∮ y dz of max(z, level)."""
    if len(segments) == 0:
        return 0.0
    (y0, z0), (y1, z1) = segments[:, 0].T, segments[:, 1].T
    s = np.clip((level - z0) / np.where(z1 == z0, 1.0, z1 - z0), 0.0, 1.0)
    level_y = y0 + s * (y1 - y0)
    start_wet, end_wet = z0 > level, z1 > level
    ya, za = np.where(start_wet, y0, level_y), np.maximum(z0, level)
    yb, zb = np.where(end_wet, y1, level_y), np.maximum(z1, level)
    return abs(float(np.sum(0.5 * (ya + yb) * (zb - za))))
