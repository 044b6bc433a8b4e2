"""Muon for hidden matrices, AdamW for embeddings, heads and norms, and the one schedule of all runs."""
import torch

MUON_RATE = 0.02
ADAM_RATE = 3e-3
MOMENTUM = 0.95
WEIGHT_DECAY = 0.01
LARGEST_GRADIENT = 1.0
WARM_UP_STEPS = 30
HELD_SHARE = 0.4  # of the steps at the full rate
LAST_FACTOR = 0.03


def rate_factor(step, steps):
    """Warm-up, then flat, then linear to LAST_FACTOR at the last step."""
    warm = min(1.0, (step + 1) / WARM_UP_STEPS)
    share = step / steps
    if share < HELD_SHARE:
        return warm
    left = (1 - share) / (1 - HELD_SHARE)
    return warm * (left * (1 - LAST_FACTOR) + LAST_FACTOR)


def orthogonalised(matrix):
    """Five Newton-Schulz steps: the matrix with its singular values near 1."""
    x = matrix / (matrix.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.t()
    for _ in range(5):
        gram = x @ x.t()
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * (gram @ gram)) @ x
    return x.t() if tall else x


class Muon:
    """One step over all parameters of `module` that want a gradient."""

    def __init__(self, module):
        named = [(name, weight) for name, weight in module.named_parameters() if weight.requires_grad]
        self.weights = [weight for _, weight in named]
        self.matrices = [
            (weight, 2 if name.endswith("gate_up.weight") else 1)  # gate and up are two matrices in one
            for name, weight in named
            if weight.dim() == 2 and not name.endswith(("embedding.weight", "head.weight"))
        ]
        self.moments = [torch.zeros_like(weight) for weight, _ in self.matrices]
        in_matrices = {id(weight) for weight, _ in self.matrices}
        others = [weight for weight in self.weights if id(weight) not in in_matrices]
        self.adam = torch.optim.AdamW(others, lr=ADAM_RATE, betas=(0.9, 0.95), weight_decay=0.0)

    @torch.no_grad()
    def step(self, factor):
        """Moves the weights by their gradients at `factor` of the full rates, and clears the gradients."""
        torch.nn.utils.clip_grad_norm_(self.weights, LARGEST_GRADIENT)
        for group in self.adam.param_groups:
            group["lr"] = ADAM_RATE * factor
        self.adam.step()
        rate = MUON_RATE * factor
        for (weight, parts), moment in zip(self.matrices, self.moments):
            moment.mul_(MOMENTUM).add_(weight.grad)
            update = weight.grad + MOMENTUM * moment
            update = torch.cat([orthogonalised(part) for part in update.chunk(parts, 0)], 0)
            scale = max(1.0, weight.shape[0] / parts / weight.shape[1]) ** 0.5
            weight.mul_(1 - rate * WEIGHT_DECAY).add_(update, alpha=-rate * scale)
        for weight in self.weights:
            weight.grad = None

    def state(self):
        return {"moments": self.moments, "adam": self.adam.state_dict()}

    def restore(self, state):
        for moment, saved in zip(self.moments, state["moments"]):
            moment.copy_(saved)
        self.adam.load_state_dict(state["adam"])
