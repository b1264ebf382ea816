/** Words that people build long passwords from. Each counts as one character. */
export const COMMON_WORDS: readonly string[] = `
  access admin administrator alpha amazon angel apple april asdf august autumn baby bailey banana baseball basketball batman berlin
  blink butterfly changeme charlie cheese chocolate christmas company computer cookie dallas dashboard december default dolphin dragon
  eagle easter eclipse facebook family february ferrari flower football forever freedom friday friend fuckoff geheim germany ginger
  google guest hallo hannah happy harley hello hockey hunter iloveyou internet jackson jasmine january jessica jordan joshua july june
  justin killer kitty letmein liberty liverpool login london lovely lucky maggie magic manager march master matrix matthew merlin
  michael michelle microsoft monday money monkey mustang newyork nicole november october office orange passcode passphrase passw
  passwd passwort password pepper phoenix please pokemon princess private purple qwert qwerty qwertz rainbow ranger robert root samsung
  saturday schatz secret secure security september server service shadow shop snoopy soccer sommer spring starwars summer sunday sunflower
  sunshine superman support system taylor tennis test thomas thursday tigger tuesday user verification verify wallet wednesday welcome
  whatever willkommen winter wizard yellow zxcvbn`
  .trim()
  .split(/\s+/)
