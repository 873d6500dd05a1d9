"""Statements for tests: one with a line of every section, changed by name."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from billing.invoices import Exchange, Line, Party, PricesUsed, StatementData
from billing.money import Money
from fairclock.model import Interval

CNY = Money(code="CNY", digits=2, rounding="half_up")
OCTOBER = Interval(start=datetime(2026, 9, 30, 16, tzinfo=UTC), end=datetime(2026, 10, 31, 16, tzinfo=UTC))
SIX = Fraction(6, 100)


def line(**changes) -> Line:
    """Return a line for completion tokens."""
    values = {
        "section": "charges",
        "kind": "completion",
        "month": "2026-10",
        "quantity": Fraction("12.345678"),
        "unit": "1000000 tokens",
        "unit_price": Fraction(8),
        "net": Fraction("98.765424"),
        "tax_rate": SIX,
        "model": "deepseek-v4",
        "treatment": "completed",
        "price_version": "2026-1",
    }
    return Line(**(values | changes))


def priced(count, unit, price, **changes) -> Line:
    """Return a line whose net is quantity times unit price."""
    quantity, unit_price = Fraction(count), Fraction(price)
    return line(quantity=quantity, unit=unit, unit_price=unit_price, net=quantity * unit_price, **changes)


LINES = (
    priced("1204311", "request", "0.0003", kind="requests"),
    priced("912.004217", "1000000 tokens", "2", kind="uncached_prompt"),
    priced("300.5", "1000000 tokens", "0.5", kind="cached_prompt"),
    line(),
    priced("0.25", "1000000 tokens", "8", treatment="aborted", estimated=True),
    priced("812", "request", "0", kind="requests", treatment="refused"),
    priced("18233.4418", "gpu_second", "0", kind="unpriced_gpu_seconds", machine="NVIDIA H200"),
    line(section="adjustments", kind="graduated", model="", treatment="", quantity=Fraction(10**9), unit="token",
         unit_price=None, net=Fraction("-57.0001"), subject="graduated:tokens", price_version=""),
    priced("2", "1000000 tokens", "8", section="corrections", month="2026-09"),
    line(section="credits", kind="credit", model="", treatment="", quantity=Fraction(1), unit="credit", unit_price=None,
         net=Fraction("-120.50"), month="2026-09", statement="FC-2026-000041", objective="availability", revision=2,
         price_version=""),
)  # fmt: skip


def data(**changes) -> StatementData:
    """Return October's statement for acme."""
    values = {
        "kind": "statement",
        "number": "FC-2026-000042",
        "status": "final",
        "tenant": "acme",
        "month": "2026-10",
        "time_zone": "Asia/Shanghai",
        "service": OCTOBER,
        "billing": OCTOBER,
        "as_of": datetime(2026, 11, 8, 2, 30, tzinfo=UTC),
        "money": CNY,
        "tax_name": {"en": "VAT", "zh": "增值税"},
        "issuer": Party(
            name={"en": "Example Cloud Co., Ltd.", "zh": "示例云计算有限公司"},
            registration_id="91310000MA1FL0XX4K",
            address={"en": "1 Example Road, Shanghai", "zh": "上海市示例路1号"},
            contact="billing@cloud.example",
        ),
        "customer": Party(
            name={"en": "Acme Finance Co., Ltd.", "zh": "阿克米金融有限公司"},
            registration_id="91310115MA1H8XYZ2Q",
        ),
        "price_book": "acme-2026-prices",
        "prices": (PricesUsed(name="2026-1", sha256="d" * 64, start=datetime(2025, 12, 31, 16, tzinfo=UTC)),),
        "lines": LINES,
        "software_version": "0.1.0",
        "issued_on": date(2026, 11, 8),
        "due_on": date(2026, 12, 8),
        "contract": "acme-2026",
        "order_number": "PO-2026-0117",
        "opening_balance": Fraction("10.00"),
        "exchange": Exchange(
            to=Money(code="USD", digits=2, rounding="half_up"),
            rate=Decimal("0.1402"),
            source="central parity, CFETS",
            day=date(2026, 10, 30),
        ),
        "einvoice": {
            "type": "数电专票",
            "item_name": "*信息技术服务*推理服务费",
            "tax_classification_code": "3040299000000000000",
        },
    }
    return StatementData(**(values | changes))
