"""Prints one table of several files of records: a line for each matrix and element, the milliseconds of each peer's variants, those of
blockmul, and last how many times longer each peer takes than blockmul; geometric means below. The table is Markdown, aligned.

    python benches/peers/table.py FILE.json ... [--against VARIANT | --fastest] [--gflops]

`--fastest` prints one column for each library, with its fastest variant of the whole product in
each line. `-` stands for a result that is wrong or missing. Means are over the matrices that both
libraries have. The reasons of wrong results follow the table.
"""

import argparse
import json
import math
import pathlib

OURS = "blockmul"


def case_of(record):
    """The line of a record: the matrix, with the columns of the dense one that it was multiplied by, with "x" for a vector, or with "from
    dense" if it was made from one, and the element."""
    if (record.get("variant") or "").startswith("from-dense "):
        return record["matrix"] + " from dense", record["element"]
    if is_applied(record):
        return record["matrix"] + " · x", record["element"]
    columns = f" x {record['b']['cols']}" if is_dense(record) else ""
    return record["matrix"] + columns, record["element"]


def is_dense(record):
    """Whether the record is of a product with a dense matrix, whose number of columns ends the
    variant."""
    return (record.get("variant") or "").startswith("dense ")


def is_applied(record):
    """Whether the record is of a product with a vector; a chosen format is named after a colon."""
    return (record.get("variant") or "").partition(" ")[0] == "apply"


def label(record):
    """The column of a record: library, variant, and the number of threads if that matters."""
    variant = record.get("variant") or ""
    if is_applied(record):
        variant = variant.removeprefix("apply ").partition(":")[0]
    variant = variant.removeprefix("dense ").rpartition(" ")[0] if is_dense(record) else variant
    words = [record["library"], variant, f"({record['threads']})" if record.get("threads") else ""]
    return " ".join(word for word in words if word)


def milliseconds(record):
    return record["ms"] if record.get("verified") else None


def ratio(theirs, ours):
    return theirs / ours if theirs and ours else None


def geometric_mean(numbers):
    numbers = [number for number in numbers if number]
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else None


def shown(number, digits):
    return "-" if number is None else f"{number:.{digits}f}"


def aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows = [rows[0], ["-" * (width - (i > 1)) + ":" * (i > 1) for i, width in enumerate(widths)], *rows[1:]]
    left = [[cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in left)


def is_whole(record):
    """Whether all of a product was computed: not its values alone, into a pattern that was "kept", nor one triangle, the "upper"."""
    return not {"kept", "upper"} & set((record.get("variant") or "").split(" "))


def fastest_variants(records):
    """Returns the fastest record of a whole product for each library, without its variant; if all
    are wrong, one of them."""
    best = {}
    for record in filter(is_whole, records):
        key = (record["library"], *case_of(record))
        if key not in best or (milliseconds(record) or math.inf) < (milliseconds(best[key]) or math.inf):
            best[key] = record
    return [record | {"variant": None, "threads": None, "matrix": case_of(record)[0]} for record in best.values()]


def table(records, against=None, gflops=False):
    """Returns the text of the table. Ratios are to blockmul's variant `against`, or else to its
    fastest one."""
    cases, columns, times, rate = {}, {}, {}, {}
    for record in records:
        case = case_of(record)
        cases.setdefault(case), columns.setdefault(label(record), record["library"] == OURS)
        times[case, label(record)] = milliseconds(record)
        rate[case] = record["flops"] / 1e6
    peers = [name for name, ours in columns.items() if not ours]
    ours = [name for name, ours in columns.items() if ours]

    def best(case):
        found = [times.get((case, name)) for name in ours if not against or against in name]
        return min((ms for ms in found if ms), default=None)

    def cell(case, name):
        ms = times.get((case, name))
        return rate[case] / ms if gflops and ms else ms

    compared = peers if any(map(best, cases)) else []
    rows = [["Gflop/s" if gflops else "ms", "element", *peers, *ours, *(f"{name} / {OURS}" for name in compared)]]
    for case in cases:
        numbers = [shown(cell(case, name), 2 if gflops else 3) for name in peers + ours]
        rows.append([*case, *numbers, *(shown(ratio(times.get((case, name)), best(case)), 2) for name in compared)])
    if compared:
        for element in dict.fromkeys(element for _, element in cases):
            of_element = [case for case in cases if case[1] == element]
            means = [geometric_mean(ratio(times.get((case, name)), best(case)) for case in of_element) for name in compared]
            rows.append(["geometric mean", element, *[""] * len(peers + ours), *(shown(mean, 2) for mean in means)])
    return aligned(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    columns = parser.add_mutually_exclusive_group()
    columns.add_argument("--against", metavar="VARIANT", help="the variant of blockmul that ratios are to, by a part of its name")
    columns.add_argument("--fastest", action="store_true", help="one column of each library, its fastest variant")
    parser.add_argument("--gflops", action="store_true", help="Gflop/s in place of milliseconds")
    args = parser.parse_intermixed_args()
    records = [record for path in args.files for record in json.loads(path.read_text())["results"]]
    print(table(fastest_variants(records) if args.fastest else records, args.against, args.gflops))
    for record in records:
        if not record.get("verified"):
            print(f"\n{label(record)}, {record['matrix']}, {record['element']}: {record.get('reason', 'not verified')}")


if __name__ == "__main__":
    main()
