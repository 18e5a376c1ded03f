export default { fetch: "not a function" };
