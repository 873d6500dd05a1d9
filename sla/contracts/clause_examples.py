"""Own the clause that is suggested where one is missing or malformed, by its path without numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairclock.clauses.source import FileKind

if TYPE_CHECKING:
    from fairclock.clauses.problems import Path

CONTRACT_FILE = FileKind(
    name="contract",
    example="examples/contracts/basic.yaml",
    begins="apiVersion: fairclock/v1 and kind: Contract",
)

_EXAMPLES = {
    "apiVersion": "apiVersion: fairclock/v1",
    "kind": "kind: Contract",
    "id": "id: acme-2026",
    "title": "title: {en: Inference service agreement, zh: 推理服务协议}",
    "language": "language: {authoritative: zh}",
    "language.authoritative": "authoritative: zh",
    "provider": "provider: {name: Example Cloud}",
    "provider.name": "name: Example Cloud",
    "customer": "customer: {name: Acme Finance, tenants: [acme]}",
    "customer.name": "name: Acme Finance",
    "customer.tenants": "tenants: [acme]",
    "term": "term: {from: 2026-01-01, to: 2026-12-31, time_zone: Asia/Shanghai}",
    "term.from": "from: 2026-01-01",
    "term.to": "to: 2026-12-31",
    "term.time_zone": "time_zone: Asia/Shanghai",
    "period": "period: {month: calendar, partial: prorated}",
    "scope": "scope: {models: [deepseek-v4], routes: [/v1/chat/completions], regions: [cn-north]}",
    "scope.models": "models: [deepseek-v4]",
    "scope.routes": "routes: [/v1/chat/completions]",
    "scope.regions": "regions: [cn-north]",
    "evaluate_per": "evaluate_per: [model]",
    "clock": "clock: {start: received}",
    "clock.start": "start: received",
    "quota": "quota: {requests_per_minute: 600, tokens_per_minute: 2000000, rejected_below: bad}",
    "quota.rejected_below": "rejected_below: bad",
    "retries": "retries: all",
    "retries.with_backoff": "with_backoff: {from: 1s, to: 32s}",
    "outcomes": "outcomes: [{status: 503, error_code: QpsExceeded, is: quota_rejected}]",
    "outcomes.is": "is: quota_rejected",
    "calendar": 'calendar: {holidays: CN, peak: [{days: workdays, from: "09:30", to: "11:30"}]}',
    "calendar.holidays": "holidays: CN",
    "calendar.*": '[{days: workdays, from: "09:30", to: "11:30"}]',
    "calendar.*.days": "days: workdays",
    "calendar.*.from": 'from: "09:30"',
    "calendar.*.to": 'to: "11:30"',
    "objectives": "objectives: [{name: availability, availability: {formula: request_ratio, target: 99.9%}}]",
    "objectives.name": "name: p99",
    "objectives.where": "where: {prompt_tokens: {below: 512}}",
    "objectives.where.prompt_tokens": "prompt_tokens: {below: 512}",
    "objectives.where.completion_tokens": "completion_tokens: {below: 512}",
    "objectives.latency": "latency: {clock: end_to_end, percentile: 99, at_most: 2s}",
    "objectives.latency.clock": "clock: end_to_end",
    "objectives.latency.percentile": "percentile: 99",
    "objectives.latency.at_most": "at_most: 2s",
    "objectives.latency.combine": "combine: worst",
    "objectives.availability": "availability: {formula: request_ratio, target: 99.9%}",
    "objectives.availability.formula": "formula: request_ratio",
    "objectives.availability.target": "target: 99.9%",
    "objectives.availability.interval": "interval: 1m",
    "objectives.availability.bad_above": "bad_above: 5%",
    "objectives.availability.empty": "empty: bad",
    "objectives.availability.below_min": "below_min: merge_next",
    "objectives.rate": "rate: {clock: output_tokens_per_second, at_least: 80, window: 5m, statistic: p50, windows_met: 99%}",
    "objectives.rate.clock": "clock: output_tokens_per_second",
    "objectives.rate.at_least": "at_least: 80",
    "objectives.rate.window": "window: 5m",
    "objectives.rate.statistic": "statistic: p50",
    "objectives.rate.windows_met": "windows_met: 99%",
    "objectives.cost": "cost: {at_most: 0.0015, per: call, currency: USD}",
    "objectives.cost.at_most": "at_most: 0.0015",
    "objectives.cost.per": "per: call",
    "objectives.cost.currency": "currency: USD",
    "exclusions": "exclusions: {maintenance: {notice: 72h, cap_per_month: 4h}}",
    "exclusions.maintenance": "maintenance: {notice: 72h, cap_per_month: 4h}",
    "exclusions.cold_start": "cold_start: {cap_per_month: 30m}",
    "exclusions.client_network": "client_network: {cap_per_month: 0.1%}",
    "exclusions.named": "named: [force_majeure]",
    "insufficient": "insufficient: {below: 100, verdict: carry_over}",
    "insufficient.below": "below: 100",
    "insufficient.verdict": "verdict: carry_over",
    "unmeasured": "unmeasured: {time: bad, coverage_floor: 99.5%, below_floor: violated, unknown_clock: bad}",
    "unmeasured.time": "time: bad",
    "unmeasured.coverage_floor": "coverage_floor: 99.5%",
    "unmeasured.below_floor": "below_floor: violated",
    "unmeasured.unknown_clock": "unknown_clock: bad",
    "quality": "quality: {levels: [{name: full, modes: [fp16]}]}",
    "quality.levels": "levels: [{name: full, modes: [fp16]}]",
    "quality.levels.name": "name: full",
    "quality.levels.modes": "modes: [fp16]",
    "credits": "credits: {tiers: [{objective: availability, below: 99.9%, credit: 10%}], tier: lowest_only}",
    "credits.base": "base: {fees_of: [model], net_of: [tax, vouchers, earlier_credits]}",
    "credits.base.fees_of": "fees_of: [model]",
    "credits.tiers": "tiers: [{objective: availability, below: 99.9%, credit: 10%}]",
    "credits.tiers.objective": "objective: availability",
    "credits.tiers.below": "below: 99.9%",
    "credits.tiers.credit": "credit: 10%",
    "credits.tier": "tier: lowest_only",
    "credits.same_cause": "same_cause: highest_only",
    "credits.per_failure": "per_failure: {outcomes: [timeout], times_charge: 1}",
    "credits.per_failure.outcomes": "outcomes: [timeout]",
    "credits.per_failure.times_charge": "times_charge: 1",
    "credits.claim": "claim: {required: true, opens: 5 workdays after month end, closes: 2 months after month end}",
    "credits.claim.required": "required: true",
    "signatures": "signatures: {provider_key: ed25519:…}",
}


def example_for(path: Path) -> str | None:
    """Return the clause to suggest at `path`; None where nothing general can be said."""
    words = [str(step) for step in path if not isinstance(step, int)]
    if len(words) > 1 and words[0] == "calendar" and words[1] not in {"holidays", "makeup_workdays"}:
        words[1] = "*"
    return _EXAMPLES.get(".".join(words))
