/** The page of an unknown path. */
export const lost = {
  title: 'There is no such page.',
  more: 'The address is incomplete or misspelled, or the page has moved.',
  bare: 'Without the slash at the end',
  home: 'Go to the start page',
  handbook: 'Read the handbook',
}
