"""`python -m fairrec.cli`."""

from fairrec.cli import main

main()
