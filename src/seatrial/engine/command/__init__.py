"""Who commands in the loop: a timetable, a manoeuvre, or a pilot that finds its own way."""
