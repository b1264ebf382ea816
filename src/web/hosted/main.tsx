import { BASE } from '../shared/base.ts'
import { mount } from '../shared/mount.tsx'
import { Hosted } from './hosted.tsx'

const [, id = ''] = location.pathname.slice(BASE.pathname.length).split('/')

mount(<Hosted id={decodeURIComponent(id)} />)
