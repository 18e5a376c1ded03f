-- A code is typed where it was asked for, as a rule: wrong codes of strangers must not keep that network from typing it.

alter table _selvedge.one_time_codes
  -- The hash of the network that has asked for the code, as in attempts_by_network; null where an administrator has.
  add column asked_by text;
