-- Which mail it is: projects may put it into a header of their own (`$messageType`), by which senders tell their mails apart.

alter table _selvedge.outgoing_mails add column message_type text not null default '';
