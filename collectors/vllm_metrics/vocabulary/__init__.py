"""Own one vocabulary for the names that vLLM's versions give the same thing, from 0.5 to 0.33."""

from collectors.vllm_metrics.vocabulary.aliases import ALIASES, Alias
from collectors.vllm_metrics.vocabulary.families import FAMILIES, Family, Kind
from collectors.vllm_metrics.vocabulary.naming import Naming, naming_of

__all__ = ["ALIASES", "FAMILIES", "Alias", "Family", "Kind", "Naming", "naming_of"]
