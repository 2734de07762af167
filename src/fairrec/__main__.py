"""`python -m fairrec`."""

from fairrec.commands import main

main()
