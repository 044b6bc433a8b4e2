"""Golden files: what the training graph drafts behind the target's greedy texts, and what comes of it.

The engine's tests hold llama.cpp against them. Nothing in them was computed by llama.cpp, and the graph has the
weights that the files have: rounded to F16. Where the best two logits are nearly equal, either side may take
the other one, so every choice comes with its gap.
"""
import torch

from lab.tokenizer import END_OF_TEXT


def best_and_gap(logits):
    """logits [..., V] -> (best token [...], its distance to the second best [...])."""
    values, tokens = logits.topk(2, -1)
    return tokens[..., 0], values[..., 0] - values[..., 1]


@torch.no_grad()
def golden_text(target, drafts, prompt, output_tokens, n_max, replays):
    """What greedy decoding of `output_tokens` tokens with a drafter does, as a dict of the golden file.

    prompt: token ids; drafts(tokens [T], positions [P], count) -> (token ids, gaps), each [P, count]: behind the
    token at a position, which is llama.cpp's id_last: sampled and not verified yet.
    Nothing when the answer ends before its last token.
    """
    tokens = target.continue_greedily(torch.tensor([prompt]), output_tokens)[0]
    answer = tokens[len(prompt) :].tolist()
    if END_OF_TEXT in answer:
        return None
    hidden, _ = target(tokens[None])
    _, answer_gaps = best_and_gap(target.logits(hidden[0, len(prompt) - 1 : -1]))
    # The last place has no room for a draft: its token is the run's last.
    positions = torch.arange(len(prompt), len(tokens) - 1)
    drafted, gaps = (result.tolist() for result in drafts(tokens, positions, n_max))
    run = drafting_passes(answer, drafted, n_max, replays)
    decisive = [gap for one in run for gap in gaps[one["row"]][: min(one["accepted"] + 1, one["offered"])]]
    return {
        "prompt_ids": prompt,
        "greedy_ids": answer,
        "greedy_min_top2_gap": rounded(answer_gaps.min().item()),
        "passes": sum(one["passes"] for one in run),
        "offered": sum(one["offered"] for one in run),
        "accepted": sum(one["accepted"] for one in run),
        "min_top2_gap": rounded(min(decisive + [answer_gaps.min().item()])),
        "drafts": [
            {
                "position": len(prompt) + one["row"],
                "last": answer[one["row"]],
                "draft": drafted[one["row"]],
                "top2_gap": [rounded(gap) for gap in gaps[one["row"]]],
            }
            for one in run
            if one["offered"] > 0
        ],
    }


def drafting_passes(answer, drafted, n_max, replays):
    """The run that emits `answer`, by the drafts it makes: [{row, offered, accepted, passes}].

    drafted[row]: the draft when answer[row] is the last token. As in DEFINITIONS 1: the first token is no pass's;
    every pass emits the target's token beside what it accepts, so a draft is never longer than leaves room for it.
    replays: the engine keeps no snapshots of the target for this drafter, so that a pass with a rejected token is
    followed by one that decodes the accepted tokens again and emits one token more.
    """
    run, row = [], 0
    while row < len(answer) - 1:
        offered = min(n_max, len(answer) - row - 2)
        accepted = 0
        while accepted < offered and drafted[row][accepted] == answer[row + 1 + accepted]:
            accepted += 1
        passes = 2 if replays and accepted < offered else 1
        run.append({"row": row, "offered": offered, "accepted": accepted, "passes": passes})
        row += accepted + passes
    return run


def rounded(gap):
    return round(gap, 4)
