from jobs.workload_kinds import WorkloadKind
from portal.core.messages import Message

WORKLOAD_KINDS = (WorkloadKind("probe", Message("Probe"), ledger_class="probe"),)
