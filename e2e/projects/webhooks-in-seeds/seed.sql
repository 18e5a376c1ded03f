-- As data dumps of hosted projects end.
SET session_replication_role = replica;
INSERT INTO "public"."orders" ("id", "total") VALUES (1, 10), (2, 20);
INSERT INTO "supabase_functions"."hooks" ("id", "hook_table_id", "hook_name") VALUES (1, 1, 'notify_orders');
SELECT pg_catalog.setval('"public"."orders_id_seq"', 2, true);
SELECT pg_catalog.setval('"supabase_functions"."hooks_id_seq"', 1, true);
RESET ALL;
