"""`python -m fairrec`."""

from fairrec.cli import main

main()
