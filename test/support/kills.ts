/** How often tests of kills have a gateway killed: `CRASH_ROUNDS`. Each time at other moments. */
export const KILLS = Number(process.env.CRASH_ROUNDS ?? 8);

/** What those moments follow from: `CRASH_SEED` gives the same again. */
export const CRASH_SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1e9));
