"""The loop of all trainings: fixed steps, a checkpoint every few minutes, the same result when resumed."""
import time
from pathlib import Path

import torch

from lab.optimizer import Muon, rate_factor

CHECKPOINT_SECONDS = 240
REPORT_STEPS = 50


def train(module, loss_of_step, steps, checkpoint, report=print, rate=1.0):
    """Runs `steps` steps of loss_of_step(step) -> scalar loss over `module`'s weights, or what is left of them.

    The checkpoint holds weights, moments, the step and the seconds spent; it stays when the training ends.
    rate: of the optimizer's full rates. Returns the seconds spent in all, over every resumption.
    """
    optimizer, step, spent = Muon(module), 0, 0.0
    if Path(checkpoint).exists():
        state = torch.load(checkpoint)
        module.load_state_dict(state["module"])
        optimizer.restore(state["optimizer"])
        step, spent = state["step"], state["seconds"]
    started, saved, losses = time.monotonic() - spent, time.monotonic(), []

    def save():
        state = {
            "module": module.state_dict(),
            "optimizer": optimizer.state(),
            "step": step,
            "seconds": time.monotonic() - started,
        }
        staging = f"{checkpoint}.staging"
        torch.save(state, staging)
        Path(staging).rename(checkpoint)

    while step < steps:
        loss = loss_of_step(step)
        loss.backward()
        optimizer.step(rate * rate_factor(step, steps))
        losses.append(loss.item())
        step += 1
        if step % REPORT_STEPS == 0 or step == steps:
            seconds = time.monotonic() - started
            left = seconds / step * (steps - step)
            mean = sum(losses[-REPORT_STEPS:]) / len(losses[-REPORT_STEPS:])
            report(f"step {step} of {steps}, loss {mean:.4f}, {seconds:.0f} s spent, about {left:.0f} s left")
        if step == steps or time.monotonic() - saved > CHECKPOINT_SECONDS:
            save()
            saved = time.monotonic()
    return time.monotonic() - started
