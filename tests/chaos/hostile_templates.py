"""Chat templates that loop, eat memory, or reach for what is not theirs."""

from __future__ import annotations

HOSTILE_TEMPLATES: tuple[str, ...] = (
    "{% for a in range(10**9) %}{% for b in range(10**9) %}{% endfor %}{% endfor %}x",
    "{% for a in range(10**6) %}{{ 'x' * 10**6 }}{% endfor %}",
    "{{ 'x' * 10**10 }}",
    "{% macro again(n) %}{{ again(n + 1) }}{% endmacro %}{{ again(0) }}",
    "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}"
    "{% endfor %}{{ ns.x }}",
    "{{ 9**(9**9) }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os.environ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ messages.__class__.__base__.__subclasses__() }}",
    "{{ lipsum.__globals__['os'].system('touch /tmp/reached') }}",
    "{{ open('/etc/passwd').read() }}",
    "{{ raise_exception('\x1b[31m' * 1000) }}",
    "{{ messages[10**9].content }}",
    "{% if %}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{% for m in messages %}" * 300 + "x" + "{% endfor %}" * 300,
    "{{ '%s' | format(messages) | urlize | list | join('' * 10**9) }}",
    "{{ '{:>999999999999}'.format(1) }}",
    "{{ (messages | tojson) * 10**8 }}",
    "{{ strftime_now('%Y' * 10**7) }}",
    "\x00\x1b]0;title\x07{{ bos_token }}",
    "",
)
"""The last ones say nothing at all, or print characters that steer a terminal."""
