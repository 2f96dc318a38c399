"""Which table or index each byte of write-ahead log is for, and which rows it writes, as ``pg_waldump`` lists its records.

The statistics of tables would tell the rows, too, but arrive up to ten seconds late from connections of a pool.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_LENGTHS: Final = re.compile(r"rmgr: (\S+)\s+len \(rec/tot\):\s*(\d+)/\s*(\d+)")
_RELATION: Final = re.compile(r"blkref #\d+: rel \d+/\d+/(\d+)")
_CHANGE: Final = re.compile(r"desc: (MULTI_INSERT|INSERT|HOT_UPDATE|UPDATE|DELETE)\b")
_ROWS: Final = re.compile(r"ntuples: (\d+)")


@dataclass(slots=True)
class LogShare:
    """Of one relation. ``changes``: bytes of the records themselves; ``pages``: bytes of whole pages, which the first change
    after a checkpoint carries. Rows are those of tables; ``in_place``: of the updated ones, those that touched no index."""

    changes: int = 0
    pages: int = 0
    records: int = 0
    inserted: int = 0
    updated: int = 0
    in_place: int = 0
    deleted: int = 0


def add_up_log(lines: Iterable[str], names: Mapping[int, str]) -> dict[str, LogShare]:
    """Returns the shares by the name of the first relation of each record; a record without one counts for its kind, in
    parentheses (``(Transaction)``). ``names`` are by relfilenode."""
    shares: defaultdict[str, LogShare] = defaultdict(LogShare)
    for line in lines:
        lengths = _LENGTHS.search(line)
        if lengths is None:
            continue
        relation = _RELATION.search(line)
        share = shares[f"({lengths[1]})" if relation is None else names.get(int(relation[1]), "(others)")]
        share.changes += int(lengths[2])
        share.pages += int(lengths[3]) - int(lengths[2])
        share.records += 1
        if lengths[1].startswith("Heap"):
            _count_rows(share, line)
    return dict(shares)


def _count_rows(share: LogShare, line: str) -> None:
    change = _CHANGE.search(line)
    if change is None:
        return
    rows = _ROWS.search(line)
    if change[1] in ("INSERT", "MULTI_INSERT"):
        share.inserted += int(rows[1]) if rows is not None else 1
    elif change[1] == "DELETE":
        share.deleted += 1
    else:
        share.updated += 1
        share.in_place += change[1] == "HOT_UPDATE"
