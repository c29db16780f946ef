"""``python -m heatwalk`` runs the program."""

from ._binary import main

if __name__ == "__main__":
    main()
