"""Forces that remember: fluid memory through the seam of the Model, against its exact solution."""

import dataclasses
import math
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

import craft
from seatrial.compile.autonomy.navigation.twin import DynamicsTwin
from seatrial.core.forces.memory import memory_at_rest
from seatrial.core.step import stepped
from seatrial.core.types import State
from seatrial.engine.compiled.launch import Start, launch
from seatrial.gnc.types import Estimate
from seatrial.pytree import pytree
from seatrial.spatial.vectors import Wrench

pytestmark = pytest.mark.usefixtures("x64")


@pytree
class RadiatedSurge:
    """Fluid memory with the kernel K(t) = b β exp(−βt): X = −∫ K(t − s) u_r(s) ds (Cummins 1962).

    One state μ = ∫ exp(−β(t − s)) u_r(s) ds, μ̇ = u_r − βμ, X = −bβ μ.
    """

    damping: jax.Array
    """b, N s/m: what the force is after a long time at one speed."""
    rate: jax.Array
    """β, 1/s."""

    @property
    def states(self):
        return 1

    def wrench(self, memory, around):
        return Wrench(-self.damping * self.rate * memory[0], 0.0, 0.0, 0.0, 0.0, 0.0)

    def rates(self, memory, around):
        return jnp.stack([around.relative.u - self.rate * memory[0]])


@pytree
class Wagging:
    """An undamped oscillator in the hull that turns it: two states, to tell forces apart."""

    omega: jax.Array

    @property
    def states(self):
        return 2

    def wrench(self, memory, around):
        return Wrench(0.0, 0.0, 0.0, 0.0, 0.0, 3.0 * memory[0])

    def rates(self, memory, around):
        zero = jnp.zeros_like(memory[0])
        return jnp.stack([memory[1], around.velocity.r + zero - self.omega**2 * memory[0]])


DAMPING, RATE = 400.0, 1.7


def with_memory(*forces, integrator="rk4", ocean=None):
    plain = craft.compiled(craft.sphere(), ocean, integrator=integrator)
    return dataclasses.replace(plain, memory_forces=forces)


def radiation():
    return RadiatedSurge(jnp.asarray(DAMPING), jnp.asarray(RATE))


def start(model, velocity, memory=None, position=(0.0, 0.0, 20.0)):
    upright = np.zeros((3, *np.shape(velocity)[1:]))
    first = craft.state(model, position, upright, velocity)
    rest = memory_at_rest(model.memory_forces, first.velocity)
    return dataclasses.replace(first, memory=rest if memory is None else memory)


def exact(times, model, speed):
    """[u, μ] from (m + A) u̇ = −bβμ, μ̇ = u − βμ by the exponential of the matrix."""
    mass = float(model.inertia.rigid_body[0, 0] + model.inertia.added_mass[0, 0])
    matrix = np.array([[0.0, -DAMPING * RATE / mass], [1.0, -RATE]])
    return np.array([expm(matrix * t) @ [speed, 0.0] for t in times])


def after(model, ocean, state, seconds, dt):
    return _after(model, ocean, state, round(seconds / dt), dt)


@jax.jit
def _after(model, ocean, state, steps, dt):
    def one(k, at):
        return craft.step(model, ocean, at, jnp.zeros((0,)), k * dt, dt)

    return jax.lax.fori_loop(0, steps, one, state)


@pytest.mark.parametrize(("integrator", "order"), [("rk4", 4), ("semi_implicit", 1)])
def test_fluid_memory_and_motion_converge_together_with_the_order_of_the_integrator(
    integrator, order
):
    model = with_memory(radiation(), integrator=integrator)
    seconds, speed = 4.0, 1.3
    u, mu = exact([seconds], model, speed)[0]
    assert abs(u) < 0.9 * speed  # the memory has worked
    gaps = []
    for dt in (0.1, 0.05, 0.025, 0.0125):
        end = after(model, craft.calm(), start(model, (speed, 0, 0, 0, 0, 0)), seconds, dt)
        gaps.append(math.hypot(float(end.velocity[0]) - u, float(end.memory[0][0]) - mu))
    for coarse, fine in pairwise(gaps[1:]):
        assert math.log2(coarse / fine) == pytest.approx(order, abs=0.2)
    if order == 4:
        assert gaps[-1] < 1e-8


def test_memory_is_driven_by_the_velocity_through_the_water():
    # Carried by a current, a body that moves with the water radiates nothing.
    ocean = craft.ocean_of(current={"speed": 0.9, "towards": 0.0})
    model = with_memory(radiation(), ocean=ocean)
    end = after(model, ocean, start(model, (0.9, 0, 0, 0, 0, 0)), 3.0, 0.05)
    assert np.abs(np.asarray(end.memory[0])).max() < 1e-12
    assert float(end.velocity[0]) == pytest.approx(0.9, abs=1e-12)


def test_several_forces_keep_to_their_own_states_in_batches_too():
    wagging = Wagging(jnp.asarray(2.0))
    model = with_memory(radiation(), wagging)
    speeds = np.array([0.5, 1.0, -2.0])
    batch = np.zeros((6, 3))
    batch[0] = speeds
    first = start(model, batch, position=np.outer([0.0, 0.0, 20.0], np.ones(3)))
    amplitude = np.array([0.0, 1e-9, 2e-9])  # so small that it does not turn the body
    memory = (first.memory[0], jnp.stack([jnp.asarray(amplitude), jnp.zeros(3)]))
    assert [m.shape for m in first.memory] == [(1, 3), (2, 3)]
    end = after(model, craft.calm(), dataclasses.replace(first, memory=memory), 3.0, 0.02)
    expected = np.array([exact([3.0], model, s)[0] for s in speeds])
    np.testing.assert_allclose(end.velocity[0], expected[:, 0], atol=1e-7)
    np.testing.assert_allclose(end.memory[0][0], expected[:, 1], atol=1e-7)
    # (ω² − c/I) is the square of the frequency at which hull and oscillator swing together:
    # θ̈ = 3 s₀/I and s̈₀ = θ̇ − ω² s₀ give a third-order equation, here by its matrix.
    inertia = float(model.inertia.rigid_body[5, 5])
    matrix = np.array([[0.0, 3.0 / inertia, 0.0], [0.0, 0.0, 1.0], [1.0, -4.0, 0.0]])
    swing = expm(3.0 * matrix) @ [0.0, 1e-9, 0.0]
    np.testing.assert_allclose(end.velocity[5, 1], swing[0], rtol=1e-5)
    np.testing.assert_allclose(end.memory[1][:, 2], 2 * swing[1:], rtol=1e-5)


def test_a_run_starts_with_the_memory_of_rest():
    model = with_memory(radiation(), Wagging(jnp.asarray(2.0)))
    upright, speed = jnp.zeros((3, 2)), jnp.array([1.0, 2.0])
    begun = launch(model, craft.calm(), Start(upright, upright, speed, jnp.zeros((0, 2))))
    assert [m.shape for m in begun.memory] == [(1, 2), (2, 2)]
    assert not any(np.any(m) for m in begun.memory)


def test_the_twin_of_a_vehicle_that_remembers_remembers_too():
    model = with_memory(radiation())
    twin = DynamicsTwin(model, craft.calm(), 0)
    speed, seconds = 1.3, 2.0
    relative = jnp.zeros((6, 1)).at[0].set(speed)
    upright = jnp.array([[1.0], [0.0], [0.0], [0.0]])
    estimate = Estimate(jnp.array([[0.0], [0.0], [20.0]]), upright, 0 * relative, jnp.zeros((3, 1)))
    memory = twin.begin(relative)
    for _ in range(20):
        memory = twin.advance(memory, estimate, jnp.zeros((0, 1)), seconds / 20)
    u, mu = exact([seconds], model, speed)[0]
    assert memory.shape == (12, 1)
    assert float(twin.velocity(memory)[0, 0]) == pytest.approx(u, abs=1e-6)
    assert float(memory[-1, 0]) == pytest.approx(mu, abs=1e-6)


def test_gradient_flows_through_the_memory():
    def reached(damping):
        force = RadiatedSurge(damping, jnp.asarray(RATE))
        model = with_memory(force)
        at = start(model, (1.0, 0, 0, 0, 0, 0))

        def one(at, k):
            return craft.step(model, craft.calm(), at, jnp.zeros((0,)), 0.1 * k, 0.1), None

        return jax.lax.scan(one, at, jnp.arange(20))[0].velocity[0]

    h = 1e-3
    both = jax.jit(jax.value_and_grad(reached))
    ahead, back = (both(jnp.float64(DAMPING + s))[0] for s in (h, -h))
    numeric = (ahead - back) / (2 * h)
    assert float(both(jnp.float64(DAMPING))[1]) == pytest.approx(float(numeric), rel=1e-6)


def test_a_vehicle_without_memory_carries_none():
    model = craft.compiled(craft.torpedo())
    first = craft.state(model, (0, 0, 4))
    assert first.memory == () == memory_at_rest(model.memory_forces, first.velocity)
    assert len(jax.tree.leaves(first)) == 4
    later, rates, *_ = stepped(model, craft.calm(), first, jnp.zeros((0,)), jnp.float64(0.0), 0.1)
    assert isinstance(later, State)
    assert (later.memory, rates.shape) == ((), (6,))
    assert math.isfinite(float(later.velocity[0]))
