export const search = {
  title: 'Search',
  keys: 'Ctrl K',
  label: 'Search for orders, names, ids, keys, templates, tills and the handbook',
  placeholder: 'Order number, name, id, key, template, till, handbook',
  kinds: {
    verification: 'Verification',
    template: 'Template',
    till: 'Till',
    key: 'API key',
    handbook: 'Handbook',
  },
  results: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  nothing: 'Nothing found. A name is found by its first letters: three at least.',
  hint: 'Arrow keys choose, Enter opens, Escape closes.',
}
