// The search, the copy buttons and the place in the contents of the handbook. Everything else on its pages works without a script.
import { serviceUrl } from '../shared/base.ts'
import { find, type Section, withoutTypos } from './find.ts'

const THANKS_MS = 2000

const WORDS = {
  en: {
    copy: 'Copy',
    copied: 'Copied',
    selected: 'Selected',
    unreachable: 'The service does not answer. Try again in a moment.',
    meant: (words: string) => `Results for “${words}”`,
    nothing: 'Nothing found',
    results: (count: number) => (count === 1 ? '1 result' : `${count} results`),
    resultsFor: (count: string, words: string) => `${count} for “${words}”`,
  },
  de: {
    copy: 'Kopieren',
    copied: 'Kopiert',
    selected: 'Markiert',
    unreachable: 'Der Dienst antwortet nicht. Versuchen Sie es gleich noch einmal.',
    meant: (words: string) => `Treffer für „${words}“`,
    nothing: 'Nichts gefunden',
    results: (count: number) => `${count} Treffer`,
    resultsFor: (count: string, words: string) => `${count} für „${words}“`,
  },
}
const words = WORDS[document.documentElement.lang === 'de' ? 'de' : 'en']

function addCopyButtons(): void {
  for (const block of document.querySelectorAll('pre')) {
    const code = block.querySelector('code')
    // A scrolling block must be reachable by keyboard.
    block.tabIndex = 0
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = words.copy
    const say = (word: string) => {
      button.textContent = word
      setTimeout(() => {
        button.textContent = words.copy
      }, THANKS_MS)
    }
    button.addEventListener(
      'click',
      () =>
        navigator.clipboard?.writeText(code?.textContent ?? '').then(
          () => say(words.copied),
          () => select(code),
        ) ?? select(code),
    )
    const select = (element: Element | null) => {
      // Plain http has no clipboard.
      if (element) getSelection()?.selectAllChildren(element)
      say(words.selected)
    }
    const holder = document.createElement('div')
    holder.className = 'code'
    block.replaceWith(holder)
    holder.append(block, button)
  }
}

/** The index is fetched when somebody begins to search. */
function addSearch(form: HTMLFormElement): void {
  const input = form.querySelector('input')
  const hits = form.querySelector('ul')
  const status = form.querySelector('p')
  if (!input || !hits || !status) return
  let sections: Promise<Section[]> | undefined
  const load = async (): Promise<Section[]> => {
    sections ??= fetch(serviceUrl('docs/search.json')).then(answer =>
      answer.ok ? (answer.json() as Promise<Section[]>) : Promise.reject(new Error(`status ${answer.status}`)),
    )
    try {
      return await sections
    } catch (error) {
      // The next letter tries again.
      sections = undefined
      throw error
    }
  }
  const close = () => {
    hits.hidden = true
    status.textContent = ''
  }
  const show = async () => {
    const typed = input.value
    const all = await load().catch(() => undefined)
    if (typed !== input.value) return
    hits.hidden = typed.trim() === ''
    if (!all) return hits.replaceChildren(noteOf(words.unreachable))
    const exact = find(all, typed)
    const meant = exact.length > 0 ? '' : withoutTypos(all, typed)
    const corrected = meant ? find(all, meant) : exact
    const found = corrected.length > 0 ? corrected : find(all, meant, true)
    const isOther = found.length > 0 && meant !== '' && meant !== typed.trim().toLowerCase().replace(/\s+/g, ' ')
    hits.replaceChildren(...(isOther ? [noteOf(words.meant(meant))] : []), ...found.map(itemOf))
    if (found.length === 0) hits.append(noteOf(words.nothing))
    const count = words.results(found.length)
    status.textContent = hits.hidden ? '' : isOther ? words.resultsFor(count, meant) : count
  }
  form.hidden = false
  input.addEventListener('focus', () => void load().catch(() => {}))
  input.addEventListener('input', () => void show())
  form.addEventListener('submit', event => {
    event.preventDefault()
    hits.querySelector('a')?.click()
  })
  form.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      close()
      input.focus()
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event, [input, ...hits.querySelectorAll('a')])
  })
  document.addEventListener('click', event => {
    const isInside = form.contains(event.target as Node)
    if (!isInside || (event.target as Element).closest('a')) close()
  })
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || (event.target as Element).closest('input, textarea')) return
    event.preventDefault()
    input.focus()
  })
}

/** A line of the list that leads nowhere. */
const noteOf = (textContent: string): HTMLLIElement =>
  Object.assign(document.createElement('li'), { className: 'none', textContent })

function move(event: KeyboardEvent, stops: HTMLElement[]): void {
  const at = stops.indexOf(document.activeElement as HTMLElement)
  const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (!next) return
  event.preventDefault()
  next.focus()
}

function itemOf({ page, title, heading, id, text }: Section): HTMLLIElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = serviceUrl(`docs/${page}${id && `#${id}`}`)
  const name = document.createElement('strong')
  name.textContent = heading ? `${title}: ${heading}` : title
  const excerpt = document.createElement('span')
  excerpt.className = 'small clipped'
  excerpt.textContent = text.slice(0, 140)
  link.append(name, excerpt)
  item.append(link)
  return item
}

/** Contents are longer than a window: they open where the reader is. */
function showPlace(): void {
  const here = document.querySelector<HTMLElement>('.frame > nav a[aria-current]')
  const contents = here?.closest('nav')
  if (!here || !contents) return
  contents.scrollTop += here.getBoundingClientRect().top - contents.getBoundingClientRect().top - contents.clientHeight / 2
}

const KEPT_AS = 'vidimus-samples'

/** The language of samples is chosen once, for every page and visit. */
function addSampleChoice(): void {
  const samples = [...document.querySelectorAll<HTMLDetailsElement>('details[data-language]')]
  const choose = (language: string) => {
    for (const sample of samples) sample.open = sample.dataset.language === language
  }
  try {
    const kept = localStorage.getItem(KEPT_AS)
    if (samples.some(({ dataset }) => dataset.language === kept)) choose(kept!)
  } catch {
    // Storage may be forbidden; then each visit begins with the first one.
  }
  for (const sample of samples)
    sample.querySelector('summary')?.addEventListener('click', event => {
      if (sample.open) return
      event.preventDefault()
      const before = sample.getBoundingClientRect().top
      choose(sample.dataset.language ?? '')
      // Others above fold and unfold: what was tapped stays where it is.
      scrollBy(0, sample.getBoundingClientRect().top - before)
      try {
        localStorage.setItem(KEPT_AS, sample.dataset.language ?? '')
      } catch {
        // As above.
      }
    })
}

/** Marks the section that is read, in the list beside it. */
function followReading(): void {
  const list = document.querySelector<HTMLElement>('.frame > aside')
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.frame > aside a')]
  const headings = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))))
  const mark = () => {
    const at = headings.findLastIndex(heading => heading && heading.getBoundingClientRect().top < 120)
    for (const [i, link] of links.entries()) {
      if (i !== at) link.removeAttribute('aria-current')
      if (i !== at || link.hasAttribute('aria-current')) continue
      link.setAttribute('aria-current', 'location')
      if (list) list.scrollTop += link.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2
    }
  }
  addEventListener('scroll', mark, { passive: true })
  mark()
}

addCopyButtons()
showPlace()
addSampleChoice()
followReading()
const form = document.querySelector<HTMLFormElement>('form.search')
if (form) addSearch(form)
