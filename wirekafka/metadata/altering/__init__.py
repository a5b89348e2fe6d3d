"""Changes of settings at run time: what a request asks, who may have it, and the records it makes."""

from wirekafka.metadata.altering.operation import Alteration, Operation
from wirekafka.metadata.altering.planning import plan_alterations

__all__ = ["Alteration", "Operation", "plan_alterations"]
