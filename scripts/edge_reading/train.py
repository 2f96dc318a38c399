"""Trains the model that reads which edge of a step an answer means, from the steps beside this file.

    uv run --active --with torch python scripts/edge_reading/train.py decisions.jsonl adapters.pt [--held-out trades]

``decisions.jsonl`` is what ``collect.py`` wrote. An epoch of all answers takes half an hour on two cores.
What is shipped went on (``--go-on``) for an epoch of all steps with examples, and one with a quarter of those and all plain
steps. The second model's adapters (``--second``) went on from it: an epoch with ``--share 0.3`` and all ``everyday_*`` and
``plain_shops``, then three of all facts, one of them without ``facts_personas``, with a tenth of the others, and two with
``--share 0.2`` and all ``plain_near_misses``, ``plain_lookalikes``, ``plain_openings``, ``plain_yes_no`` and ``plain_shops``.
Writes the adapters to a file of PyTorch after each epoch, from which a run goes on if it is there, and ``edge_reading.npz``
of ``offhook.knowledge.offline`` in the end. With ``--held-out``, the steps of that file are only judged.

The model is all-MiniLM-L6-v2 with adapters of low rank at every matrix. It reads the question, the answer and all edges
of a step as one text; each edge is weighed by its words' states and by how near they are to those of the answer.
"""

import argparse
import json
import math
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src"))

from offhook.knowledge.offline.build_program import read_safetensors  # noqa: E402
from offhook.knowledge.offline.edge_reader import SECOND_WEIGHTS, WEIGHTS, ReadingTokens, tokens_of  # noqa: E402
from offhook.knowledge.offline.prepared_model import tokenizer_path, wheel_file  # noqa: E402
from offhook.models.edge_reading import ASKS_FACT, AnswerToRead, EdgeText  # noqa: E402

STEPS = Path(__file__).with_name("steps")
HEADS, WIDTH, LAYERS, RANK = 12, 384, 6, 16
RATE = 5e-4
WARM_UP = 40
# Tokens of a batch.
BATCH = 2000
# Of the decisions in the corpora, so many of each step and edge.
MOST_ALIKE = 10
NONE = -1
# Facts that are read at once, as by the offline agent.
MAX_FACTS = 8
# Of the steps with examples, the share that is read without any: first agents have none.
PLAIN = 0.35
MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "o": "attention.output.dense",
    "i": "intermediate.dense",
    "f": "output.dense",
}
NORMS = {"n1": "attention.output.LayerNorm", "n2": "output.LayerNorm"}
_ASKS_AGAIN = re.compile(
    "didn't get that|want to get this right|make sure I get this right|not sure I understood|having trouble|Once more|say that again"
)


class Example(NamedTuple):
    """An answer at a step. ``edge`` is the place of the edge that it means, NONE for none of them."""

    asked: str
    heard: str
    edges: tuple[EdgeText, ...]
    edge: int
    source: str


def read_steps(path: Path) -> Iterator[Example]:
    for line in path.read_text().splitlines():
        step = json.loads(line)
        if "facts" in step:
            yield from _read_facts(step, path.stem)
            continue
        edges = tuple(
            EdgeText(edge["label"], edge.get("condition", ""), tuple(edge.get("examples", ())))
            for edge in step["edges"]
        )
        for heard, edge in step["answers"]:
            yield Example(step["question"], heard, edges, edge, path.stem)


def _read_facts(business: dict[str, Any], source: str) -> Iterator[Example]:
    """Yields questions with the best fact that answers each, among those that do not."""
    for heard, right in business["questions"]:
        facts = [fact for place, fact in enumerate(business["facts"]) if place not in right[1:]]
        edge = facts.index(business["facts"][right[0]]) if right else NONE
        yield Example(ASKS_FACT, heard, tuple(EdgeText(fact) for fact in facts), edge, source)


def read_decisions(path: Path) -> list[Example]:
    """Returns what the agent decided where a conversation came out right, and what it should have where it asked again."""
    alike: dict[Any, list[Example]] = defaultdict(list)
    doubtful: list[Example] = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        for at, made in enumerate(row["decisions"]):
            edges = tuple(EdgeText(edge["label"], edge["condition"], tuple(edge["examples"])) for edge in made["edges"])
            tools = [edge["tool"] for edge in made["edges"]]
            example = Example(made["asked"], made["heard"], edges, NONE, row["slug"])
            asks_again = _ASKS_AGAIN.search(made["text"]) is not None and made["call"] is None
            if at == len(row["decisions"]) - 1 and (asks_again or row["faults"]):
                meant = [place for place, target in enumerate(made["targets"]) if target in row["node"]]
                stays = made["node"] in row["node"]
                if (len(meant) == 1) != stays:
                    doubtful.append(example._replace(edge=meant[0] if meant else NONE))
            elif not row["faults"] and made["call"] in tools:
                place = tools.index(made["call"])
                alike[row["slug"], made["node"], place].append(example._replace(edge=place))
            elif not row["faults"] and made["call"] is None and not asks_again:
                alike[row["slug"], made["node"], NONE].append(example)
    for key in sorted(alike):
        random.shuffle(alike[key])
    return [example for key in sorted(alike) for example in alike[key][:MOST_ALIKE]] + doubtful


class AdaptedMatrix(nn.Module):
    """A matrix of the wheel, which stays as it is, and what is learned beside it."""

    def __init__(self, weight: Any, bias: Any) -> None:
        super().__init__()
        self.weight = torch.tensor(weight).bfloat16()
        self.bias = torch.tensor(bias).bfloat16()
        self.down = nn.Parameter(torch.randn(RANK, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.up = nn.Parameter(torch.zeros(weight.shape[0], RANK))

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        given = given.bfloat16()
        learned = functional.linear(functional.linear(given, self.down.bfloat16()), self.up.bfloat16())
        return functional.linear(given, self.weight, self.bias) + learned


class EdgeReadingModel(nn.Module):
    """The model in training; ``offhook.knowledge.offline.edge_reader`` runs it."""

    def __init__(self) -> None:
        super().__init__()
        path = wheel_file("model.safetensors")
        assert path is not None
        weights = read_safetensors(path)
        self.words = torch.tensor(weights["embeddings.word_embeddings.weight"])
        self.positions = torch.tensor(weights["embeddings.position_embeddings.weight"])
        self.types = nn.Parameter(torch.tensor(weights["embeddings.token_type_embeddings.weight"]))
        self.norm = _norm(weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(_layer(weights, f"encoder.layer.{at}") for at in range(LAYERS))
        self.edge, self.edge2 = nn.Linear(4 * WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.none, self.none2 = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.scale = nn.Parameter(torch.tensor([10.0, 0.0, -3.0]))

    def forward(self, batch: list[ReadingTokens]) -> torch.Tensor:
        """Returns the scores of each text's edges, and of none in the last column."""
        ids, types, mask = _padded(batch)
        states = self._states(ids, types, mask)
        whole = states[:, 0]
        most = max(len(tokens.edges) for tokens in batch)
        scores = torch.full((len(batch), most + 1), -1e4)
        scores[:, most] = self.none2(torch.tanh(self.none(whole))).squeeze(-1)
        for row, tokens in enumerate(batch):
            answer = functional.normalize(states[row, slice(*tokens.answer)].mean(0), dim=0)
            edges = torch.stack([states[row, begin : max(end, begin + 1)].mean(0) for begin, end in tokens.edges])
            edges = functional.normalize(edges, dim=1)
            ends = states[row, [end for _, end in tokens.edges]]
            wide = answer.expand_as(edges)
            seen = torch.cat([ends, whole[row].expand_as(ends), wide * edges * 20, (wide - edges).abs() * 5], 1)
            learned = self.edge2(torch.tanh(self.edge(seen))).squeeze(-1)
            scores[row, : len(tokens.edges)] = learned + self.scale[0] * (edges @ answer) + self.scale[2]
        return scores

    def _states(self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        texts, length = ids.shape
        states = self._drop(self.norm(self.words[ids] + self.positions[:length] + self.types[types]))
        bias = ((1 - mask) * -1e4).view(texts, 1, 1, length).bfloat16()

        def split(value: torch.Tensor) -> torch.Tensor:
            return value.view(texts, length, HEADS, WIDTH // HEADS).transpose(1, 2)

        for layer in self.layers:
            query, key, value = (split(layer[name](states)) for name in "qkv")
            weights = (query @ key.transpose(2, 3) / math.sqrt(WIDTH // HEADS) + bias).softmax(-1)
            attended = (weights @ value).transpose(1, 2).reshape(texts, length, WIDTH)
            states = layer["n1"](states + self._drop(layer["o"](attended)).float())
            states = layer["n2"](states + self._drop(layer["f"](functional.gelu(layer["i"](states)))).float())
        return states

    def _drop(self, value: torch.Tensor) -> torch.Tensor:
        kept = torch.ones(value.shape[0], 1, value.shape[2], dtype=value.dtype)
        return value * functional.dropout(kept, 0.1, self.training)

    def adapters(self) -> dict[str, Any]:
        """Returns what was learned by the names that ``build_program`` and ``EdgeReadingHead`` read."""
        return {_shipped(name): value.float().numpy().astype(np.float16) for name, value in self.state_dict().items()}

    def load_adapters(self) -> None:
        """Goes on with what is shipped."""
        with np.load(WEIGHTS) as stored:
            self.load_state_dict({name: torch.tensor(stored[_shipped(name)]).float() for name in self.state_dict()})


def _shipped(name: str) -> str:
    """Returns the name of a parameter in ``edge_reading.npz``."""
    first, *rest = name.split(".")
    if first == "layers":
        layer, part, kind = rest
        part = f"{NORMS[part]}.{kind}" if part in NORMS else f"{MATRICES[part]}.weight.{kind}"
        return f"encoder.layer.{layer}.{part}"
    if first == "norm":
        return f"embeddings.LayerNorm.{rest[0]}"
    return "embeddings.token_type_embeddings.weight" if first == "types" else f"head.{name}"


def _norm(weights: dict[str, Any], name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(WIDTH, eps=1e-12)
    norm.weight.data, norm.bias.data = (torch.tensor(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
    return norm


def _layer(weights: dict[str, Any], prefix: str) -> nn.ModuleDict:
    layer = nn.ModuleDict()
    for name, part in MATRICES.items():
        layer[name] = AdaptedMatrix(weights[f"{prefix}.{part}.weight"], weights[f"{prefix}.{part}.bias"])
    for name, part in NORMS.items():
        layer[name] = _norm(weights, f"{prefix}.{part}")
    return layer


def _padded(batch: list[ReadingTokens]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    length = max(len(tokens.ids) for tokens in batch)
    ids, types, mask = (torch.zeros(len(batch), length, dtype=torch.long) for _ in range(3))
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens.ids)] = torch.tensor(tokens.ids)
        types[row, : len(tokens.types)] = torch.tensor(tokens.types)
        mask[row, : len(tokens.ids)] = 1
    return ids, types, mask


class ExampleReader:
    """Makes of an example what the model reads: in training with other edges, examples and signs each time."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer_path()))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def read(self, example: Example, *, varied: bool) -> tuple[ReadingTokens, int]:
        places = list(range(len(example.edges)))
        heard, edges = example.heard, list(example.edges)
        if example.asked == ASKS_FACT:
            places = _some_places(example, random if varied else random.Random(example.heard))
        if varied:
            random.shuffle(places)
            if len(places) > 2 and random.random() < 0.15:
                # none is meant where the edge is missing
                places.pop()
            edges = [self._varied(edge, example.heard) for edge in edges]
            if random.random() < PLAIN:
                edges = [EdgeText(edge.label, edge.condition or edge.label, ()) for edge in edges]
            if random.random() < 0.3:
                heard = "".join(sign for sign in heard.lower() if sign.isalnum() or sign in " '")
        else:
            edges = [EdgeText(edge.label, edge.condition, edge.examples[:4]) for edge in edges]
        given = AnswerToRead(example.asked, heard, tuple(edges[place] for place in places))
        return tokens_of(given, self._tokenizer), places.index(example.edge) if example.edge in places else NONE

    @staticmethod
    def _varied(edge: EdgeText, heard: str) -> EdgeText:
        others = [one for one in edge.examples if one.lower().strip(" .!") != heard.lower().strip(" .!")]
        examples = random.sample(others, min(random.choice([0, 1, 2, 3, 5]), len(others)))
        condition = "" if others and random.random() < 0.1 else edge.condition
        return EdgeText(edge.label, condition, tuple(examples))


def _some_places(example: Example, dice: Any) -> list[int]:
    """Returns the place of the right fact, and those of some others."""
    places = [place for place in range(len(example.edges)) if place != example.edge]
    some: list[int] = dice.sample(places, min(len(places), dice.randint(MAX_FACTS // 2, MAX_FACTS - 1)))
    return some if example.edge == NONE else [*some, example.edge]


def batches(read: list[tuple[ReadingTokens, int]]) -> list[list[tuple[ReadingTokens, int]]]:
    found: list[list[tuple[ReadingTokens, int]]] = [[]]
    for one in sorted(read, key=lambda one: len(one[0].ids) + random.random() * 8):
        if found[-1] and len(one[0].ids) * (len(found[-1]) + 1) > BATCH:
            found.append([])
        found[-1].append(one)
    random.shuffle(found)
    return found


def loss_of(model: EdgeReadingModel, batch: list[tuple[ReadingTokens, int]]) -> torch.Tensor:
    scores = model([tokens for tokens, _ in batch])
    none = scores.shape[1] - 1
    return functional.cross_entropy(scores, torch.tensor([none if edge == NONE else edge for _, edge in batch]))


def judge(model: EdgeReadingModel, reader: ExampleReader, held_out: list[Example]) -> None:
    """Prints how many answers are read right, and of those that mean an edge how many are taken at which probability."""
    model.eval()
    found = []
    with torch.no_grad():
        for example in held_out:
            tokens, edge = reader.read(example, varied=False)
            found.append((model([tokens])[0].softmax(0).tolist(), edge))
    model.train()
    right = sum(
        (odds.index(max(odds)) if odds.index(max(odds)) < len(odds) - 1 else NONE) == edge for odds, edge in found
    )
    print(f"  {right / max(1, len(found)):.1%} of {len(found)} held-out answers are read right")
    for least in (0.5, 0.75, 0.9):
        taken = [odds.index(max(odds[:-1])) == edge for odds, edge in found if max(odds[:-1]) >= least]
        print(f"  at {least}: {len(taken)} edges taken, {sum(taken) / max(1, len(taken)):.1%} right", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("decisions", type=Path)
    parser.add_argument("adapters", type=Path)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--held-out", nargs="*", default=[])
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the answers in other files than --whole, in an epoch"
    )
    parser.add_argument("--whole", nargs="*", default=[], help="files whose answers are all read in each epoch")
    parser.add_argument("--second", action="store_true", help="write the adapters of the second model")
    parser.add_argument("--go-on", action="store_true", help="begin with the shipped adapters")
    given = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    steps = [example for path in sorted(STEPS.glob("*.jsonl")) for example in read_steps(path)]
    held_out = [example for example in steps if example.source in given.held_out]
    trained = [example for example in steps if example.source not in given.held_out] + read_decisions(given.decisions)
    model, reader = EdgeReadingModel(), ExampleReader()
    if given.adapters.exists():
        model.load_state_dict(torch.load(given.adapters))
    elif given.go_on:
        model.load_adapters()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    done, total = 0, 0
    for epoch in range(given.epochs):
        read = [one for one in trained if one.source in given.whole or random.random() < given.share]
        made = batches([reader.read(example, varied=True) for example in read])
        total = total or given.epochs * len(made)
        losses = []
        for batch in made:
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, (done + 1) / WARM_UP) * max(0.02, 1 - done / total)
            loss = loss_of(model, batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(float(loss))
            done += 1
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f} of {len(trained)} answers", flush=True)
        judge(model, reader, held_out)
        torch.save(model.state_dict(), given.adapters)
    np.savez_compressed(SECOND_WEIGHTS if given.second else WEIGHTS, **model.adapters())


if __name__ == "__main__":
    main()
