"""A table, for a page, a Markdown file, a spreadsheet and a terminal."""

import csv
import html
import io
from typing import NamedTuple

import rich.table

NOTHING = ("", "-", "none")  # a phone leaves such a cell out


class Table(NamedTuple):
    """Text in cells; ``name`` is its file's. A folded one is opened by a click."""

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    folded: bool = False


def markdown(table: Table) -> str:
    def line(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "---|" * len(table.head)
    note = f"\n{table.note}\n" if table.note else ""
    return "\n".join([line(table.head), rule, *map(line, table.rows)]) + "\n" + note


def as_csv(table: Table) -> str:
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(table.head)
    writer.writerows(table.rows)
    return made.getvalue()


def for_terminal(table: Table) -> rich.table.Table:
    """As ``rich`` prints it."""
    made = rich.table.Table(title=table.title, caption=table.note or None)
    for number, column in enumerate(table.head):
        made.add_column(column, justify="right" if number else "left")
    for row in table.rows:
        made.add_row(*row)
    return made


def as_html(table: Table) -> str:
    """Wide screens show rows; on a phone each row is a card, every cell with its column's name."""
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in table.head)
    rows = "".join(
        f"<tr>{''.join(map(_cell, table.head, row, range(len(row))))}</tr>" for row in table.rows
    )
    note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
    body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="wide" tabindex="0"><table>{body}</table></div>{note}'


def _cell(name: str, text: str, number: int) -> str:
    marked = {"supported": "yes", "not supported": "no", "undecided": "open"}.get(text)
    digits = text[:1].isdigit() or text[:1] == "-"
    kind = f"verdict {marked}" if marked else "number" if digits else ""
    kind = "nothing" if text in NOTHING else kind
    kind = f' class="{kind}"' if kind else ""
    said = "" if number == 0 else f' data-name="{html.escape(name)}"'
    return f"<td{kind}{said}>{html.escape(text)}</td>"
