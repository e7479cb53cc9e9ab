BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Reservation') XX
  BB BBB BBBB
    XXX gettext(u'These GPUs are not exclusive: other teams with access to the pool can use them.') XXXX
  BBBB
    XXX XXXXXXXXXXXXXX
      XXXX pgettext(u'name of a value', u'State') XXXXX
      XXXX
        BB BBBBBBBBBB BB BBBBBBBB BBB BBBBBBBBB BB BBBBBBB
          XXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXXXXX XX
          XXXXX XXXXXXXXXXXXXX gettext(u"Only this team's jobs start there.") XXXXXXX
        BBBB BBBBBBBBBB BB BBBBBBBBB
          XXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXXXXXX XX
          XXXXX XXXXXXXXXXXXXX
             pgettext(u'value', u'starts in %(time)s') 
              SSSSSS SS SSSSSSSS
            
          XXXXXXX
        BBBB BBBBBBBBBB BB BBBBBBBB
          XXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXXXXX XX
        BBBB BBBBBBBBBB BB BBBBBBB
          XXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXXXX XX
        BBBB
          XXXXXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXXXXXX XX
          BB BBB BBBBBBBBB
            XXXXX XXXXXXXXXXXXXX gettext(u'It is applied within a minute.') XXXXXXX
          BBBBB
        BBBBB
      XXXXX
      BB BBBBBBBBB
        XXXX pgettext(u'name of a value, why', u'Reason') XXXXX
        XXX XXXXXXXBB BBBBBBBBBB BB BBBBBBBBXXXXXXXXXBBBBBXX
          FFFFFFFFFF
          BB BBBBBBBBBB BB BBBBBBBB
            XXXXX XXXXXXXXXXXXXX gettext(u'Muster tries again every minute.') XXXXXXX
          BBBBB
        XXXXX
      BBBBB
      XXXX pgettext(u'name of a value', u'Nodes') XXXXX
      XXXX
        BBB BBBB BB BBBBBBBBBB
          XX XXXXXXXXXXXXXX
             XXXXXXXXXXXXXXXXXXXXXXXXXXXXBB BBB BBBBBBBBBBBBXBBBBB
        BBBBBB
        BB BBBBBBBBB
          XXXXX XXXXXXXXXXXXXX
             pgettext(u'value', u'and %(n)s more') 
              SSS SSSSS SSSS
            
          XXXXXXX
        BBBBB
        XXXXX XXXXXXXXXXXX XXXXXXXX
           npgettext(u'number of things', u'1 GPU', u'%(n)s GPUs',count) 
            S SSS
          
            PPPPP PPPP
          
        XXXXXXX
      XXXXX
      XXXX pgettext(u'name of a value', u'Until') XXXXX
      XXXX
        FFFFFFFFFFF FFFF XXX
      XXXXX
      XXXX pgettext(u'name of a value', u'Name') XXXXX
      XXXX
        XXXXXXXXXXXXX
      XXXXX
    XXXXX
  BBBBB
XXXXXXXXXX
