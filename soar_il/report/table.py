"""A table, for a page, a Markdown file, a spreadsheet and a terminal."""

import csv
import html
import io
from typing import NamedTuple

import rich.table


class Table(NamedTuple):
    """Text in cells; ``name`` is its file's."""

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


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
    """Its rows can be scrolled sideways on a narrow screen."""
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in table.head)
    rows = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in table.rows)
    note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
    body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="wide" tabindex="0"><table>{body}</table></div>{note}'


def _cell(text: str) -> str:
    marked = {"supported": "yes", "not supported": "no", "undecided": "open"}.get(text)
    number = ' class="number"' if text[:1].isdigit() or text[:1] == "-" else ""
    kind = f' class="verdict {marked}"' if marked else number
    return f"<td{kind}>{html.escape(text)}</td>"
