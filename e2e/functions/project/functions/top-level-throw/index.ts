throw new Error("no start on purpose");
