BBBB BBBB
 #

XXXX XXXXXXXXXXXXXXXXXXX
  XXXXXX XXXXXXXXXXXXX
    XXXXXXX
      XXXX
        XXX XXXXXXXXXXXX pgettext(u'column', u'Name') XXXXX
        XXX XXXXXXXXXXXX pgettext(u'column', u'Type') XXXXX
        XXX XXXXXXXXXXXX pgettext(u'column, type', u'Kind') XXXXX
      XXXXX
    XXXXXXXX
    XXXXXXX
      BBB BBBBBB BB BBBBBBB
        XXXX
          XXX XXXXXXXXXXXXXFFFFFFFFFFFXXXXX
          XXX XXXXXXXXXXXXX
            
            
            BB BBBBBBBBBBBBBB BB BBB BBBBX BBBBB
          XXXXX
          XXX XXXXXXXXXXXXXX
            BB BBBBBBBBBBB BB BBBBBBBB
               pgettext(u'value', u'input') 
            BBBB BBBBBBBBBBB BB BBBBBBBBB
               pgettext(u'value', u'output') 
            BBBB
               pgettext(u'value', u'parameter') 
            BBBBB
            BB BBBBBBBBBBBBBBBBBBX  pgettext(u'value', u'optional') BBBBB
          XXXXX
        XXXXX
      BBBBBB
    XXXXXXXX
  XXXXXXXX
XXXXXX
