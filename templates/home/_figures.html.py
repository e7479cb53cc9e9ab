BBBB BBBB BBBBBB
 #

BB BBBBBBBBBBBBB
   pgettext(u'name of a value', u'of %(total)s') 
    SS SSSSSSSSS
  
BBBBB
BB BBBBBBBBBBB BB BBB BBBB
   pgettext(u'name of a value', u'%(share)s used (24 h)') 
    SSSSSSSSS SSSS SSS SS
  
BBBBB
BB BBBBBBBBBB BB BBB BBBB
   gettext(u'median wait %(wait)s (24 h)') 
    SSSSSS SSSS SSSSSSSS SSS SS
  
BBBBB
BB BBBBBBBBBBB
   pgettext(u'name of a value', u'%(succeeded)s of %(ended)s jobs') 
    SSSSSSSSSSSSS SS SSSSSSSSS SSSS
  
BBBBB
BB BBBB
   pgettext(u'name of a value', u'%(cost)s so far') 
    SSSSSSSS SS SSS
  
BBBB
   pgettext(u'name of a value', u'allocated, UTC') 
BBBBB
XXXX XXXXXXXXXXXX XXXXXXXXX
  XXXXXXX XXXXXXX pgettext(u'name of a figure', u'GPUs allocated') X
          XXXXXXXFFFFFFFFFFFFFFFFX
          XXXXXXXXXXXXXXXXXXXXXXXXXXX
          XXXXXXBB BBBBBB BBB BBBBBBBBX BBBBBX XX
  XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Queue') X
          XXXXXXXFFFFFFFFFFFFFFFFX
          XXXXXXXXXXXXXXXXXXXXXXXXXX
          XXXXXXX XX
  XXXXXXX XXXXXXX gettext(u'Success rate, 7 d') X
          XXXXXXXFFFFFFFX
          XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
          XXXXXXX XX
  XXXXXXX XXXXXXX gettext(u'GPU-hours this month') X
          XXXXXXXFFFFFX
          XXXXXXXXXXXXXX
          XXXXXXX XX
XXXXXX
