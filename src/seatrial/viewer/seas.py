"""The sea of a recording at any time of it, with the changes that people made while it ran."""

from seatrial.engine.acts import Act
from seatrial.engine.scene import Scene
from seatrial.engine.sea_change import SeaChange, graded
from seatrial.viewer.messages import CLEAR, Sea
from seatrial.viewer.world import waves_card


class Seas:
    """One change after the other, each from where the one before had come."""

    def __init__(self, start: Scene, acts: tuple[Act, ...]) -> None:
        self._start = start
        self._changes: list[tuple[SeaChange, float, float]] = []
        """With the visibility before it and after it."""
        for act in acts:
            if act.sea is not None:
                before = self.scene(act.time)
                seen = self._visibility(act.time)
                after = float(act.value.get("visibility", self._asked))
                self._changes.append((SeaChange(before, act.sea, act.time), seen, after))

    @property
    def _asked(self) -> float:
        return self._changes[-1][2] if self._changes else CLEAR

    def _at(self, t: float) -> int:
        """The change that is going on, or is over, at a time; -1 before the first."""
        begun = [i for i, (change, _, _) in enumerate(self._changes) if change.start <= t + 1e-9]
        return begun[-1] if begun else -1

    def which(self, t: float) -> tuple[int, float]:
        """Equal for times at which the sea is the same sum of waves."""
        i = self._at(t)
        return i, 0.0 if i < 0 else min(t, self._changes[i][0].end)

    def scene(self, t: float) -> Scene:
        """The scene at a time."""
        i = self._at(t)
        return self._start if i < 0 else self._changes[i][0].scene(t)

    def message(self, t: float) -> tuple[Sea, Scene]:
        """What the pages draw, and the scene that it is of."""
        scene = self.scene(t)
        wind = scene.wind
        sea = Sea(
            time=t,
            waves=waves_card(scene.waves),
            wind_speed=0.0 if wind is None else wind.speed,
            wind_towards=0.0 if wind is None else wind.towards,
            visibility=self._visibility(t),
            weather=None,
        )
        return sea, scene

    def _visibility(self, t: float) -> float:
        i = self._at(t)
        if i < 0:
            return CLEAR
        change, before, after = self._changes[i]
        return graded(change.mix(t).share, before, after)
