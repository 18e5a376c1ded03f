export default {
  fetch(req: Request): Response {
    const { pathname, search } = new URL(req.url);
    return Response.json({ method: req.method, path: pathname, search });
  },
};
