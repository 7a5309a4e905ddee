"""`seatrial cache`."""

import json

import typer

from seatrial import cache


def show_cache(as_json: bool) -> None:
    """Folder, limit and what is kept, by program and vehicle."""
    found = cache.summary()
    if as_json:
        rows = [{"kind": k, "name": n, "count": c, "bytes": b} for (k, n), (c, b) in found.items()]
        document = {
            "folder": str(cache.folder()),
            "limit_bytes": cache.limit(),
            "refusal": cache.refusal(),
            "entries": sum(count for count, _ in found.values()),
            "bytes": sum(size for _, size in found.values()),
            "kept": rows,
        }
        typer.echo(json.dumps(document, indent=2))
        return

    from seatrial.cli.tables import show_table, terminal

    console = terminal()
    refusal = cache.refusal()
    if refusal is not None:
        console.print(f"nothing is kept: {refusal}", soft_wrap=True)
    cells = [[kind, name, f"{n}", f"{size / 1e6:.2f}"] for (kind, name), (n, size) in found.items()]
    if cells:
        show_table(console, "", ("kept", "of", "entries", "size\nMB"), cells, names=2)
    count, size = (sum(column) for column in zip((0, 0), *found.values(), strict=True))
    console.print(
        f"{count} entries, {size / 1e6:.1f} of {cache.limit() / 1e6:.0f} MB, in {cache.folder()}",
        soft_wrap=True,
    )


def clear_cache(as_json: bool) -> None:
    """Delete every entry."""
    count, size = cache.clear()
    if as_json:
        typer.echo(json.dumps({"deleted": count, "bytes": size}, indent=2))
    else:
        typer.echo(f"deleted {count} entries, {size / 1e6:.1f} MB")
