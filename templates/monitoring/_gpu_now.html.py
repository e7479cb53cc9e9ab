BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXX
  XXXXXXXX
    XXXX pgettext(u'heading', u'Now') XXXXX
    XXXXX XXXXXXXXXXXXX XXXXXXX
      XXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
         pgettext(u'text, monitoring', u'live') 
      XXXXXXXXX
    XXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXX XXXXXXXXX
    XXX XXXXXXXXXXXXXX
      BB BBBBBBBBBBBBB BB BBB BBBB
        XXX XXXXXXX gettext(u'Share of the time that the multiprocessors had work') XX
           pgettext(u'name of a value', u'SM activity') 
        XXXXX
        XXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXXXXX
        XXXXX
      BBBBB
      XXX XXXXXXX gettext(u'Share of the time with any kernel') XX gettext(u'GPU utilization (5 min)') XXXXX
      XXXX
        FFFFFFFFFFFFFF
      XXXXX
      BB BBBBBBBBBBBBBBBB BB BBB BBBB
        XXX XXXXXXX gettext(u'Resident warps, of those that fit') XX
           pgettext(u'name of a value', u'SM occupancy') 
        XXXXX
        XXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXXXXX
        XXXXX
      BBBBB
      BB BBBBBBBBBBBBBBBBB BB BBB BBBB
        XXX XXXXXXX gettext(u'Share of the time that the tensor cores worked') XX
           pgettext(u'name of a value', u'Tensor cores') 
        XXXXX
        XXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXXXXX
        XXXXX
      BBBBB
      XXXX pgettext(u'name of a value', u'Memory used') XXXXX
      XXXX
        XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
              XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFXXXXXXX
         pgettext(u'value', u'of %(total)s') 
          SS SSSSSSSSS
        
      XXXXX
      BB BBBBBBBBBBBBBBBBBBBB BB BBB BBBB
        XXX XXXXXXX gettext(u'Of the highest possible') XX pgettext(u'name of a value', u'Memory bandwidth') XXXXX
        XXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXXXXX
        XXXXX
      BBBBB
      BB BBBBBBBBBBBBBBBBBBBB BB BBBB BBB BBBBBBBBBBBBBBBBBBBBBB BB BBB BBBB
        XXX XXXXXXX gettext(u'Share of the time with memory traffic, however little') XX
           pgettext(u'name of a value', u'Memory traffic') 
        XXXXX
        XXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFXXXXXXX
        XXXXX
      BBBBB
      XXXX pgettext(u'name of a value, electricity', u'Power') XXXXX
      XXXX
        BB BBBBBBBBB BB BBB BBBB
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXFFFFFFFFFFFFXXXXXXX
        BBBB
          X
        BBBBB
      XXXXX
      XXXX pgettext(u'name of a value', u'Temperature') XXXXX
      XXXX
        BB BBBBBBBBBBBBBBB BB BBB BBBB
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXFFFFFFFFFFFFF XXXXXXXXX
        BBBB
          X
        BBBBB
        BB BBBBBBBBBBBBBBBBBBBBBB BB BBB BBBB
          XXXXX XXXXXXXXXXXXXX
             pgettext(u'value', u'memory') 
            XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXFFFFFFFFFFFFF XXXXXXXXX
          XXXXXXX
        BBBBB
      XXXXX
      BB BBBBBBBBBBBB BB BBB BBBB
        XXXX pgettext(u'name of a value', u'Clocks') XXXXX
        XXXX
          XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXFFFFFFFFFFFFFXXXXXXX
          BB BBBBBBBBBBBBBBBB BB BBB BBBB
            XXXXX XXXXXXXXXXXXXX
               pgettext(u'value', u'memory %(value)s') 
                SSSSSS SSSSSSSSS
              
            XXXXXXX
          BBBBB
        XXXXX
      BBBBB
      BB BBBBBBBBBBBBBBBB BB BBB BBBB
        XXX XXXXXXX gettext(u'Power limits, temperature or the machine slow the clocks') XX
           pgettext(u'name of a value', u'Throttled by') 
        XXXXX
        XXX BB BBBBBBBBBBBBBBBBXXXXXXXXXXXXXXXXXBBBBBX
          BBB BBBBBB BB BBBBBBBBBBBBBBBBBBBB
            FFFFFFFFFFBB BBB BBBBBBBBBBBBXBBBBB
          BBBBB
            BB BBBBBBBBBBBBBBBB
               pgettext(u'value', u'unknown') 
            BBBB
               pgettext(u'value', u'nothing') 
            BBBBB
          BBBBBB
        XXXXX
      BBBBB
       pgettext(u'name of a value', u'sent') 
       pgettext(u'name of a value', u'received') 
      BB BBBBBBBBBBBBB BB BBB BBBB BB BBBBBBBBBBBBBBBBB BB BBB BBBB
        XXXXXXXXXXXXX
        XXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBB BBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBB
        XXXXX
      BBBBB
      BB BBBBBBBBBBBBBBB BB BBB BBBB BB BBBBBBBBBBBBBBBBBBB BB BBB BBBB
        XXXXXXXXXXXXXXX
        XXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBB BBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBB
          BB BBBBBBBBBBBBBBBBB
            XXXXX XXXXXXXXXXXXXXXX XXXXXXXX
               pgettext(u'value', u'%(n)s errors') 
                SSSSS SSSSSS
              
            XXXXXXX
          BBBBB
        XXXXX
      BBBBB
      BB BBBBBBBBBBBBBBBBB BB BBB BBBB BB BBBBBBBBBBBBBBBBBBB BB BBB BBBB
        XXX XXXXXXX gettext(u'Since the driver was loaded: corrected, uncorrected') XX
           pgettext(u'name of a value', u'Memory errors') 
        XXXXX
        XXX BB BBBBBBBBBBBBBBBBBBBXXXXXXXXXXXXXXXXXBBBBBX
           pgettext(u'value', u'%(n)s corrected') 
            SSSSS SSSSSSSSS
          X
           pgettext(u'value', u'%(n)s uncorrected') 
            SSSSS SSSSSSSSSSS
          
        XXXXX
      BBBBB
      BB BBBBBBBBBBBBBBBBBB BB BBB BBBB BB BBBBBBBBBBBBBBBBBBBB BB BBB BBBB
        XXX XXXXXXX gettext(u'Memory rows that were replaced') XX
           pgettext(u'name of a value', u'Remapped rows') 
        XXXXX
        XXX BB BBBBBBBBBBBBBBBXXXXXXXXXXXXXXXXXBBBBBX
          BB BBBBBBBBBBBBBBBBBB BB BBB BBBB
             gettext(u'%(n)s after corrected errors') 
              SSSSS SSSSS SSSSSSSSS SSSSSS
            X
          BBBBB
           gettext(u'%(n)s after uncorrected errors') 
            SSSSS SSSSS SSSSSSSSSSS SSSSSS
          
          BB BBBBBBBBBBBBBBB
            X  pgettext(u'value', u'remapping failed') 
          BBBBB
        XXXXX
      BBBBB
    XXXXX
    BB BBBBBBBBBBBBB BB BBBB
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'Utilization is the share of time with any kernel, not how much of the GPU works. SM activity tells that: on Hopper and newer with the agent, else with dcgm-exporter.') 
          SSSSSSSSSSS SS SSS SSSSS SS SSSS SSSS SSS SSSSSSS SSS SSS SSSS SS SSS SSS SSSSSS SS SSSSSSSS
          SSSSS SSSSS SS SSSSSS SSS SSSSS SSSS SSS SSSSSS SSSS SSSS SSSSSSSSSSSSSS
        
      XXXX
    BBBBB
  XXXXXX
XXXXXXXXXX
