-- The type of the mail. Projects can add it as a custom header (`$messageType`), by which mail providers group
-- messages.

alter table _selvedge.outgoing_mails add column message_type text not null default '';
