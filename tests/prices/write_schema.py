"""Write docs/price-book.schema.json anew: python -m tests.prices.write_schema."""

import json
from pathlib import Path

from billing.prices import price_book_schema

Path("docs/price-book.schema.json").write_text(
    json.dumps(price_book_schema(), indent=2, ensure_ascii=False) + "\n"
)
