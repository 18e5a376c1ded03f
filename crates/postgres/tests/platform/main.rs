//! The platform schema, asked the way Supabase projects ask it: as `postgres` who migrates, and as the API roles.

mod baseline;
