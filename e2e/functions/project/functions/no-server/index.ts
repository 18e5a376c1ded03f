console.log("this module serves nothing");
setTimeout(() => {}, 60_000);
