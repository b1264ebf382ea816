/** Icons on a grid of 24, in the colour of the surrounding text. */
const PATHS = {
  tick: 'm5 12.5 4.5 4.5L19 7.5',
  cross: 'M6 6l12 12M18 6 6 18',
  dash: 'M6 12h12',
  plus: 'M12 5v14M5 12h14',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 11v5.5M12 7.5v.1',
  warning: 'M12 3.5 2.5 20h19L12 3.5ZM12 10v4.5M12 17.4v.1',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 7v5l3.5 2',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  key: 'M8 11.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM11.3 12.7 20 4M16.5 7.5l3 3M13.5 10.5l2 2',
  device: 'M6 3h12v18H6zM11 18h2',
  camera: 'M4 8h3.5L9 5.5h6L16.5 8H20v11H4zM12 10a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6Z',
  wallet: 'M4 7h14.5A1.5 1.5 0 0 1 20 8.5V18a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 18V6.5A1.5 1.5 0 0 1 5.5 5H17M15.5 13h.1',
  unreadable: 'M6 3h8l4 4v14H6zM14 3v4h4M9.5 12l5 5M14.5 12l-5 5',
  document: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17',
  out: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  back: 'M11 5l-7 7 7 7M4 12h16',
  next: 'm9 5 7 7-7 7',
  down: 'm5 9 7 7 7-7',
  menu: 'M4 6h16M4 12h16M4 18h16',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.5 15.5 20 20',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  reload: 'M20 5v5h-5M4 19v-5h5M19 10a7.5 7.5 0 0 0-13.5-2.5M5 14a7.5 7.5 0 0 0 13.5 2.5',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM4 21a8 8 0 0 1 16 0',
  shield: 'M12 3 4.5 6v6c0 4.5 3.2 7.8 7.5 9 4.3-1.2 7.5-4.5 7.5-9V6L12 3Z',
  ledger: 'M6 3h12v18H6a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2ZM8 3v18M11 8h4M11 12h4',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6v.1M4.5 12v.1M4.5 18v.1',
  chart: 'M4 20h16M7 20v-6M12 20V6M17 20v-9',
  hook: 'M15.5 8v7.8a4 4 0 1 1-8 0v-1.3l-2 2M15.5 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  settings:
    'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM9 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Z',
  leave: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  language: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3.5 9h17M3.5 15h17M12 3c3 3 4 6 4 9s-1 6-4 9c-3-3-4-6-4-9s1-6 4-9Z',
  sound: 'M4 10v4h4l5 4V6l-5 4H4ZM17 9a4.5 4.5 0 0 1 0 6',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4',
} as const

export type IconName = keyof typeof PATHS

/** Hidden from screen readers: an icon without a word needs a label on its button. */
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
