"""`seatrial view` and `seatrial run --view`: where the page is, said and opened."""

import typer

from seatrial.viewing import Page, open_browser


def show_page(page: Page, browser: bool, *, err: bool = False) -> None:
    """Say the address, of every role where there are several, and open the first."""
    if len(page.links) == 1:
        typer.echo(f"{page.url}  (Ctrl-C ends it)", err=err)
    else:
        for role, address in page.links.items():
            typer.echo(f"{role + ':':<12}{address}", err=err)
        typer.echo("(Ctrl-C ends it)", err=err)
    if browser:
        open_browser(page)


def say_refusals(page: Page, *, err: bool = False) -> None:
    """Say, after its end, how much of what came to its port was not obeyed."""
    counts = page.counts
    told = [f"{counts[what]:,} {what}" for what in ("refused", "turned away") if counts[what]]
    if told:
        typer.echo(f"the page: {', '.join(told)}", err=err)
