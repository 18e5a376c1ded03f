import { Hono } from "npm:hono@4.13.19";

const app = new Hono().basePath("/hono-app");
app.get("/items/:id", (context) => context.json({ id: context.req.param("id") }));
app.post("/items", async (context) => context.json({ made: await context.req.json() }, 201));

Deno.serve(app.fetch);
