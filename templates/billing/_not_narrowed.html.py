BBBB BBBB
 #

BB BBBBBBBBBBBBBBBB
  XX XXXXXXXXXXXX XXXXXXX gettext(u'Of all clusters, pools and GPU models.') XXXX
BBBBB
