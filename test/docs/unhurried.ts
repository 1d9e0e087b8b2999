// A machine that runs tests has others to serve: where it makes a loop late, that is no overload of a page's gateway. The package as it is built
// has this clock for that alone.
process.hrtime.bigint = () => 0n;
