"""How fast it is: beams per second beside MuJoCo's own mj_multiRay, and the whole pipeline against real time."""
