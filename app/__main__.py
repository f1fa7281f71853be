"""``python -m app`` is ``tunedeck``."""

import sys

from app.cli import main

sys.exit(main())
