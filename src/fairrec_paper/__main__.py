"""`python -m fairrec_paper`."""

from fairrec_paper.cli import main

main()
