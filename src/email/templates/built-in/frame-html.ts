/** The frame of emails, in Liquid. Generated from frame.mjml by `npm run generate`. */
export const frameHtml = `<!DOCTYPE html>
<html lang="{{ language }}" dir="{{ dir }}" xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<title>{{ subject }}</title>
<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style type="text/css">
#outlook a { padding:0; }
body { margin:0;padding:0;-webkit-text-size-adjust:100%;-ms-text-size-adjust:100%; }
table, td { border-collapse:collapse;mso-table-lspace:0pt;mso-table-rspace:0pt; }
img { border:0;height:auto;line-height:100%; outline:none;text-decoration:none;-ms-interpolation-mode:bicubic; }
p { display:block;margin:13px 0; }
</style>
<!--[if mso]>
<noscript>
<xml>
<o:OfficeDocumentSettings>
<o:AllowPNG/>
<o:PixelsPerInch>96</o:PixelsPerInch>
</o:OfficeDocumentSettings>
</xml>
</noscript>
<![endif]-->
<style type="text/css">
:root { color-scheme: {{ color_schemes }}; }
body { background: {{ colors.page }}; }
h1, h2, p, blockquote, td { overflow-wrap: anywhere; }
h1, h2 { font-size: 18px; line-height: 24px; margin: 0; }
p { margin: 0 0 16px; }
a { color: {{ colors.accent }}; }
.muted a { display: inline-block; color: {{ colors.muted }}; }
.stars { border-collapse: separate; margin: 0 -6px; }
.stars td { border: 1px solid {{ colors.edge }}; border-radius: {{ brand.radius }}px; }
.stars a { display: block; margin: -6px; padding: 10px 8px; text-decoration: none; }
@media (min-width: 640px) {
.page > div { padding: 24px 0; }
.card { border-radius: {{ brand.radius }}px; overflow: hidden; }
}
{% if dark_colors %}
@media (prefers-color-scheme: dark) {
body, .page > div, .foot, .foot > table { background: {{ dark_colors.page }} !important; }
.card, .card > table { background: {{ dark_colors.background }} !important; }
.text div, .stars a { color: {{ dark_colors.text }} !important; }
.muted div, .muted a { color: {{ dark_colors.muted }} !important; }
a { color: {{ dark_colors.accent }}; }
.button { background: {{ dark_colors.accent }} !important; }
.button a { color: {{ dark_colors.on_accent }} !important; }
.stars td { border-color: {{ dark_colors.edge }}; }
.stars b { color: {{ dark_colors.star }} !important; }
.line { border-color: {{ dark_colors.line }} !important; }
}
[data-ogsb] .page > div, [data-ogsb] .foot, [data-ogsb] .foot > table { background: {{ dark_colors.page }} !important; }
[data-ogsb] .card, [data-ogsb] .card > table { background: {{ dark_colors.background }} !important; }
[data-ogsb] .button { background: {{ dark_colors.accent }} !important; }
[data-ogsc] .text div, [data-ogsc] .stars a { color: {{ dark_colors.text }} !important; }
[data-ogsc] .muted div, [data-ogsc] .muted a { color: {{ dark_colors.muted }} !important; }
[data-ogsc] a { color: {{ dark_colors.accent }}; }
[data-ogsc] .button a { color: {{ dark_colors.on_accent }} !important; }
[data-ogsc] .stars b { color: {{ dark_colors.star }} !important; }
{% endif %}
</style>
<meta name="color-scheme" content="{{ color_schemes }}"> <meta name="supported-color-schemes" content="{{
color_schemes
}}">
</head>
<body  class="page" style="word-spacing:normal;background-color:{{ colors.page }};">
<div style="display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;">{% block preheader %}{% endblock %}</div>
<div
aria-label="{{ subject }}" aria-roledescription="email" role="article" lang="{{ language }}" dir="{{ dir }}" style="word-spacing:normal;background-color:{{ colors.page }};"
>
<!--[if mso | IE]><table align="center" border="0" cellpadding="0" cellspacing="0" class="card-outlook" role="presentation" style="width:600px;" width="600" bgcolor="{{ colors.background }}" ><tr><td style="line-height:0px;font-size:0px;mso-line-height-rule:exactly;"><![endif]-->
<div  class="card" style="background-color:{{ colors.background }};margin:0px auto;max-width:600px;">
<table
align="center" border="0" cellpadding="0" cellspacing="0" role="presentation" style="background-color:{{ colors.background }};width:100%;"
>
<tbody>
<tr>
<td
style="direction:{{ dir }};font-size:0px;padding:24px 20px 8px;text-align:center;"
>
<!--[if mso | IE]><table role="presentation" border="0" cellpadding="0" cellspacing="0"><tr><td class="" style="vertical-align:top;width:560px;" ><![endif]-->
<div
style="font-size:0px;text-align:left;direction:{{ dir }};display:inline-block;vertical-align:top;width:100%;"
>
<table
border="0" cellpadding="0" cellspacing="0" role="presentation" style="vertical-align:top;" width="100%"
>
<tbody>
<tr>
<td
align="{{ start }}" class="text" style="font-size:0px;padding:0;word-break:break-word;"
>
<div
style="font-family:{{ brand.font }};font-size:16px;line-height:24px;text-align:{{ start }};color:{{ colors.text }};"
>{% if brand.logo_url %}
<p style="margin: 0 0 24px">
<img
src="{{ brand.logo_url }}"
alt="{% if store.is_named %}{{ store.name }}{% else %}{{ 'email.our_store' | t }}{% endif %}"
width="{{ brand.logo_width }}"
height="{{ brand.logo_height }}"
style="display: block; border: 0"
>
</p>
{% elsif store.is_named %}
<p style="margin: 0 0 24px; font-size: 20px"><strong dir="auto">{{ store.name }}</strong></p>
{% endif %}
<p>
{% block greeting %}{% if customer.name == "" %}{{ "email.greeting" | t }}{% else %}{{ "email.greeting_named" | t: name: customer.name }}{% endif %}{% endblock %}
</p>
{% block content %}{% endblock %}
<p>
{% if store.url %}<a href="{{ store.url }}"
>{% if store.is_named %}<bdi>{{ store.name }}</bdi
>{% else %}{{ "email.visit_store" | t }}{% endif %}</a
>{% elsif store.is_named %}<bdi>{{ store.name }}</bdi
>{% endif %}
</p></div>
</td>
</tr>
</tbody>
</table>
</div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</td>
</tr>
</tbody>
</table>
</div>
<!--[if mso | IE]></td></tr></table><table align="center" border="0" cellpadding="0" cellspacing="0" class="foot-outlook" role="presentation" style="width:600px;" width="600" bgcolor="{{ colors.page }}" ><tr><td style="line-height:0px;font-size:0px;mso-line-height-rule:exactly;"><![endif]-->
<div  class="foot" style="background-color:{{ colors.page }};margin:0px auto;max-width:600px;">
<table
align="center" border="0" cellpadding="0" cellspacing="0" role="presentation" style="background-color:{{ colors.page }};width:100%;"
>
<tbody>
<tr>
<td
style="direction:{{ dir }};font-size:0px;padding:16px 20px;text-align:center;"
>
<!--[if mso | IE]><table role="presentation" border="0" cellpadding="0" cellspacing="0"><tr><td class="" style="vertical-align:top;width:560px;" ><![endif]-->
<div
style="font-size:0px;text-align:left;direction:{{ dir }};display:inline-block;vertical-align:top;width:100%;"
>
<table
border="0" cellpadding="0" cellspacing="0" role="presentation" style="vertical-align:top;" width="100%"
>
<tbody>
<tr>
<td
align="{{ start }}" class="muted" style="font-size:0px;padding:0;word-break:break-word;"
>
<div
style="font-family:{{ brand.font }};font-size:14px;line-height:20px;text-align:{{ start }};color:{{ colors.muted }};"
><p>{% block reason %}{% endblock %}</p>
{% if brand.postal_address %}
<p dir="auto">{{ brand.postal_address | newline_to_br }}</p>
{% endif %}
<p>
{% if my_reviews_url %}<a href="{{ my_reviews_url }}">{{ "email.my_reviews" | t }}</a> · {% endif %} {% if
brand.privacy_url %}<a href="{{ brand.privacy_url }}">{{ "email.privacy" | t }}</a> · {% endif %} {% if
brand.terms_url %}<a href="{{ brand.terms_url }}">{{ "email.terms" | t }}</a> · {% endif %}
<a href="{{ unsubscribe_url }}">{% block unsubscribe %}{{ "email.unsubscribe" | t }}{% endblock %}</a>
</p></div>
</td>
</tr>
</tbody>
</table>
</div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</td>
</tr>
</tbody>
</table>
</div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</div>
</body>
</html>
`;
